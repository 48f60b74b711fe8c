import type { CommandRow } from "../command-row.ts";
import { readTable, withHelp } from "../command-table.ts";

/* As in `text.ts`: a flag has `:` only if every version of a program takes the next word as its value. */

/** Left out: --backup, --suffix and --parents, which write to other paths than the operands name. */
const copyFlags = `
  -[afinpPrRLHTuvxd] --archive --force --interactive --no-clobber --update? --verbose --recursive --preserve? --no-preserve:
  --dereference --no-dereference --no-target-directory --reflink? --sparse: --strip-trailing-slashes
  --attributes-only --one-file-system`;

const moveFlags = `
  -[finTuv] --force --interactive --no-clobber --update? --verbose --no-target-directory --strip-trailing-slashes`;

const linkFlags = "-[fnrTv] --force --no-dereference --relative --no-target-directory --verbose";

/** Excludes setuid and setgid bits. */
function fileMode(text: string): string | undefined {
  const isKnown = /^0?[0-7]{3}$|^[ugoa]*[-+=][rwxX]*(,[ugoa]*[-+=][rwxX]*)*$/.test(text);
  return isKnown ? undefined : "sets permissions in an unknown way";
}

/*
 * Left out: flags that start a program (-I, -F, --to-command, --checkpoint-action, --rsh-command), read names from a
 * file (-T), keep leading slashes (-P) or remove files, and -C before names to pack.
 */
const tarFlags = `
  -[ajJvz] --auto-compress --bzip2 --gzip --gunzip --ungzip --xz --zstd --lzma --verbose --totals --exclude: --exclude-vcs
  --exclude-from< --force-local`;
const unpackFlags = `
  -C> -[kmo] --directory> --strip-components: --keep-old-files --keep-newer-files --no-same-owner --no-same-permissions
  --touch --wildcards --no-recursion --one-top-level`;

/** An action's letter with those for verbosity and the compressor, in the usual orders. */
function tarWords(action: string, ending: string): readonly string[] {
  const words = ["", "z", "j", "J", "a"].flatMap((by) => [
    `${action}${by}`,
    `${action}v${by}`,
    `${action}${by}v`,
    `${by}${action}`,
    `${by}${action}v`,
    `v${action}${by}`,
  ]);
  return [...new Set(words)].map((word) => `${word}${ending}`);
}

/** With or without a dash, followed by the archive. */
const tarSub = (action: string) =>
  tarWords(action, "f")
    .flatMap((word) => [word, `-${word}`])
    .join("|");
const createSub = ["--create", ...tarWords("c", "").map((word) => `-${word}`)].join("|");

/** A first word without a dash is read as letters of flags. */
function memberName(text: string): string | undefined {
  return /[./]/.test(text) ? undefined : "may be flags";
}

/** A name with a colon is an archive on another machine. */
function onThisMachine(text: string): string | undefined {
  return text.includes(":") ? "may be on another machine" : undefined;
}

/** Extensions that these programs try on their own. */
export const packedEndings = ".gz .Z .z -gz -z _z .bz2 .xz .lzma .zst .lz4";
const zipEndings = ".zip .ZIP";
const compressors = "gzip bzip2 xz zstd";
const decompressors = "gunzip bunzip2 unxz unzstd";

export const fileRows: readonly CommandRow[] = withHelp(
  readTable(
    `
  low touch (write*): creates empty files, or sets the times of files
    -[acfhm] -d: -r< -t: --no-create --no-dereference --date: --reference< --time:
  low mkdir (write*): creates folders
    -p -v -m: --parents --verbose --mode:
  low rmdir (write*): removes empty folders
    -p -v --parents --verbose --ignore-fail-on-non-empty
  medium rm (write*): deletes files that can be restored
    deletes -[rRfvdI] --recursive --force --verbose --dir --one-file-system --preserve-root
  medium unlink (write): deletes a file that can be restored
    deletes
  # In some versions -r also follows links.
  low cp (read* write): copies files
    recursive=(-a -r -R --archive --recursive) followsLinks=(-r -L --dereference) fillsFolder
    makesLinks=(-a -d -P -r -R --archive --recursive --no-dereference --preserve) ${copyFlags}
  low cp (read*): copies files
    recursive=(-a -r -R --archive --recursive) followsLinks=(-r -L --dereference) fillsFolder
    makesLinks=(-a -d -P -r -R --archive --recursive --no-dereference --preserve) ${copyFlags} -t> --target-directory>
  low mv (write*): moves files
    fillsFolder movesFolders sparesGit makesLinks ${moveFlags}
  low mv (write*): moves files
    fillsFolder movesFolders sparesGit makesLinks ${moveFlags} -t> --target-directory>
  low ln [-s|-sf|-fs|-sn|-sv|-sr|-sfn|-snf|-nsf|-nfs|-fns|-fsn|-sfv|-svf|-sfnv|-snfv|-srf|-sfr|-sT|-sfT|
    --symbolic] (read* write): makes links to files
    fillsFolder makesLinks linksTo -s ${linkFlags}
  # Writing to one name also writes to the other.
  low ln (write write): makes links to files
    fillsFolder makesLinks -v --verbose
  low dos2unix unix2dos (write*): changes the line endings of files
    -q -k --quiet --keepdate
  low tee (write*): writes its input to files
    -a -i -p --append --ignore-interrupts --output-error?
  medium chmod (text write*): changes the permissions of files
    script=fileMode recursive=(-R --recursive) -[cfRv] --changes --silent --quiet --verbose --recursive
  medium chmod [-x|-w|-r|-rw|-wx] (write*): removes permissions from files
  medium mktemp (write?): creates a file or folder with a new name
    folder -d -q -t -u -p> --directory --dry-run --quiet --suffix:
  # Only a dry run: the patch decides which files are written, and can rename even a named file.
  low patch [--dry-run|-p0 --dry-run|-p1 --dry-run]: prints what a patch would change
    -[lNRstu] -F: -p: -i< --batch --forward --fuzz: --ignore-whitespace --input< --quiet --reverse --silent --strip:
    --unified --verbose
  read tar gtar bsdtar [${tarSub("t")}] (read text*): lists the contents of an archive
    path=onThisMachine ${tarFlags}
  read tar gtar bsdtar (text*): lists the contents of an archive
    needs=(-t --list) path=onThisMachine script=memberName ${tarFlags} -t -f< --list --file<
  medium tar gtar bsdtar [${tarSub("x")}] (read text*): unpacks an archive
    folder makesLinks path=onThisMachine picksNames=archive ${tarFlags} ${unpackFlags}
  medium tar gtar bsdtar (text*): unpacks an archive
    folder makesLinks path=onThisMachine picksNames=archive script=memberName ${tarFlags} ${unpackFlags} -x -f<
    --extract --get --file<
  medium tar gtar bsdtar [${tarSub("c")}] (write read*): packs files into an archive
    folder makesLinks path=onThisMachine recursive followsLinks=(-h --dereference) ${tarFlags} -h --dereference
  medium tar gtar bsdtar [${createSub}] (read*): packs files into an archive
    folder makesLinks path=onThisMachine recursive followsLinks=(-h --dereference) ${tarFlags} -f> -h --dereference
    --file>
  medium zip (write read*): packs files into an archive
    longDash recursive=(-r -rq -qr -r9 -9r -ry -yr -qry -rqy -rj -jr --recurse-paths)
    followsLinks=(-r -rq -qr -r9 -9r -rj -jr --recurse-paths) -r -q -j -y -0 -1 -9 -X -D -rq -qr -r9 -9r -ry -yr -qry
    -rqy -rj -jr -x: --recurse-paths --quiet --symlinks --exclude:
  read unzip [-l|-lq|-ql|-lv|-v|-t|-tq|-qt|-z|-Z|-Z1|-Z -1|-p|-c] (read text*): prints the contents of an archive
    suffixes=(${zipEndings})
  read zipinfo (read text*): lists the contents of an archive
    suffixes=(${zipEndings}) -[12hlmMstTvz]
  medium unzip (read text*): unpacks an archive
    folder picksNames=archive makesLinks suffixes=(${zipEndings}) -[aCfjLnoqu] -d> -x:
  read ${compressors}: prints its input compressed or decompressed
    -# -[cdkqv]
  read ${decompressors}: prints its input decompressed
    -[ckqv]
  read ${compressors} ${decompressors} [-dc|-cd|-dkc|-dcq|-l|-lv|-t|
    -tv] (read*): prints the contents of compressed files
    suffixes=(${packedEndings})
  read ${decompressors} [-c] (read*): prints the contents of compressed files
    suffixes=(${packedEndings})
  medium ${compressors} ${decompressors} (write*): compresses or decompresses files
    -# -[cdkqtvz] --keep --decompress --stdout --fast --best --quiet --verbose
`,
    { fileMode, onThisMachine, memberName },
  ),
);
