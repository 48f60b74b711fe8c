import type { CommandRow } from "../command-row.ts";

/* As in `text.ts`: a flag has `:` only if every version of a program takes the next word as its value. */

const copying = "copies files";
const moving = "moves files";
const linking = "makes links to files";
const packing = "packs files into an archive";
const unpacking = "unpacks an archive";
const contents = "lists the contents of an archive";
const compressing = "compresses or decompresses files";

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
const tarSub = (action: string) => tarWords(action, "f").flatMap((word) => [word, `-${word}`]);

/** A first word without a dash is read as letters of flags. */
function memberName(text: string): string | undefined {
  return /[./]/.test(text) ? undefined : "may be flags";
}

/** A name with a colon is an archive on another machine. */
function onThisMachine(text: string): string | undefined {
  return text.includes(":") ? "may be on another machine" : undefined;
}

const tar = {
  program: "tar gtar bsdtar",
  class: "medium",
  folder: true,
  makesLinks: true,
  path: onThisMachine,
} as const;
/** Extensions that these programs try on their own. */
export const packedEndings = ".gz .Z .z -gz -z _z .bz2 .xz .lzma .zst .lz4";
const zipEndings = ".zip .ZIP";
const compressors = "gzip bzip2 xz zstd";
const decompressors = "gunzip bunzip2 unxz unzstd";

const rows: readonly CommandRow[] = [
  {
    program: "touch",
    class: "low",
    flags: "-[acfhm] -d: -r< -t: --no-create --no-dereference --date: --reference< --time:",
    operands: "write*",
    why: "creates empty files, or sets the times of files",
  },
  {
    program: "mkdir",
    class: "low",
    flags: "-p -v -m: --parents --verbose --mode:",
    operands: "write*",
    why: "creates folders",
  },
  {
    program: "rmdir",
    class: "low",
    flags: "-p -v --parents --verbose --ignore-fail-on-non-empty",
    operands: "write*",
    why: "removes empty folders",
  },
  {
    program: "rm",
    class: "medium",
    flags: "-[rRfvdI] --recursive --force --verbose --dir --one-file-system --preserve-root",
    operands: "write*",
    deletes: true,
    why: "deletes files that can be restored",
  },
  {
    program: "unlink",
    class: "medium",
    operands: "write",
    deletes: true,
    why: "deletes a file that can be restored",
  },
  {
    program: "cp",
    class: "low",
    flags: copyFlags,
    operands: "read* write",
    recursive: "-a -r -R --archive --recursive",
    // In some versions -r also follows links.
    followsLinks: "-r -L --dereference",
    fillsFolder: true,
    makesLinks: "-a -d -P -r -R --archive --recursive --no-dereference --preserve",
    why: copying,
  },
  {
    program: "cp",
    class: "low",
    flags: `${copyFlags} -t> --target-directory>`,
    operands: "read*",
    recursive: "-a -r -R --archive --recursive",
    followsLinks: "-r -L --dereference",
    fillsFolder: true,
    makesLinks: "-a -d -P -r -R --archive --recursive --no-dereference --preserve",
    why: copying,
  },
  {
    program: "mv",
    class: "low",
    flags: moveFlags,
    operands: "write*",
    fillsFolder: true,
    movesFolders: true,
    sparesGit: true,
    makesLinks: true,
    why: moving,
  },
  {
    program: "mv",
    class: "low",
    flags: `${moveFlags} -t> --target-directory>`,
    operands: "write*",
    fillsFolder: true,
    movesFolders: true,
    sparesGit: true,
    makesLinks: true,
    why: moving,
  },
  {
    program: "ln",
    class: "low",
    sub: "-s|-sf|-fs|-sn|-sv|-sr|-sfn|-snf|-nsf|-nfs|-fns|-fsn|-sfv|-svf|-sfnv|-snfv|-srf|-sfr|-sT|-sfT|--symbolic",
    flags: `-s ${linkFlags}`,
    operands: "read* write",
    fillsFolder: true,
    makesLinks: true,
    linksTo: true,
    why: linking,
  },
  // Writing to one name also writes to the other.
  {
    program: "ln",
    class: "low",
    flags: "-v --verbose",
    operands: "write write",
    fillsFolder: true,
    makesLinks: true,
    why: linking,
  },
  {
    program: "dos2unix unix2dos",
    class: "low",
    flags: "-q -k --quiet --keepdate",
    operands: "write*",
    why: "changes the line endings of files",
  },
  {
    program: "tee",
    class: "low",
    flags: "-a -i -p --append --ignore-interrupts --output-error?",
    operands: "write*",
    why: "writes its input to files",
  },
  {
    program: "chmod",
    class: "medium",
    flags: "-[cfRv] --changes --silent --quiet --verbose --recursive",
    operands: "text write*",
    script: fileMode,
    recursive: "-R --recursive",
    why: "changes the permissions of files",
  },
  {
    program: "chmod",
    class: "medium",
    sub: "-x|-w|-r|-rw|-wx",
    operands: "write*",
    why: "removes permissions from files",
  },
  {
    program: "mktemp",
    class: "medium",
    flags: "-d -q -t -u -p> --directory --dry-run --quiet --suffix:",
    operands: "write?",
    folder: true,
    why: "creates a file or folder with a new name",
  },
  // Only a dry run: the patch decides which files are written, and can rename even a named file.
  {
    program: "patch",
    class: "low",
    sub: "--dry-run|-p0 --dry-run|-p1 --dry-run",
    flags: `-[lNRstu] -F: -p: -i< --batch --forward --fuzz: --ignore-whitespace --input< --quiet --reverse --silent --strip:
      --unified --verbose`,
    why: "prints what a patch would change",
  },

  { ...tar, sub: tarSub("t").join("|"), flags: tarFlags, operands: "read text*", why: contents },
  { ...tar, flags: `${tarFlags} -t -f< --list --file<`, operands: "text*", script: memberName, why: contents },
  {
    ...tar,
    sub: tarSub("x").join("|"),
    flags: `${tarFlags} ${unpackFlags}`,
    operands: "read text*",
    picksNames: "archive",
    why: unpacking,
  },
  {
    ...tar,
    flags: `${tarFlags} ${unpackFlags} -x -f< --extract --get --file<`,
    operands: "text*",
    picksNames: "archive",
    script: memberName,
    why: unpacking,
  },
  {
    ...tar,
    sub: tarSub("c").join("|"),
    flags: `${tarFlags} -h --dereference`,
    operands: "write read*",
    recursive: true,
    followsLinks: "-h --dereference",
    why: packing,
  },
  {
    ...tar,
    sub: ["--create", ...tarWords("c", "").map((word) => `-${word}`)].join("|"),
    flags: `${tarFlags} -f> -h --dereference --file>`,
    operands: "read*",
    recursive: true,
    followsLinks: "-h --dereference",
    why: packing,
  },
  {
    program: "zip",
    class: "medium",
    longDash: true,
    flags: `-r -q -j -y -0 -1 -9 -X -D -rq -qr -r9 -9r -ry -yr -qry -rqy -rj -jr -x: --recurse-paths --quiet --symlinks
      --exclude:`,
    operands: "write read*",
    recursive: "-r -rq -qr -r9 -9r -ry -yr -qry -rqy -rj -jr --recurse-paths",
    followsLinks: "-r -rq -qr -r9 -9r -rj -jr --recurse-paths",
    why: packing,
  },
  {
    program: "unzip",
    class: "read",
    sub: "-l|-lq|-ql|-lv|-v|-t|-tq|-qt|-z|-Z|-Z1|-Z -1|-p|-c",
    operands: "read text*",
    suffixes: zipEndings,
    why: "prints the contents of an archive",
  },
  {
    program: "zipinfo",
    class: "read",
    flags: "-[12hlmMstTvz]",
    operands: "read text*",
    suffixes: zipEndings,
    why: contents,
  },
  {
    program: "unzip",
    class: "medium",
    flags: "-[aCfjLnoqu] -d> -x:",
    operands: "read text*",
    folder: true,
    picksNames: "archive",
    makesLinks: true,
    suffixes: zipEndings,
    why: unpacking,
  },
  {
    program: compressors,
    class: "read",
    flags: "-# -[cdkqv]",
    why: "prints its input compressed or decompressed",
  },
  { program: decompressors, class: "read", flags: "-[ckqv]", why: "prints its input decompressed" },
  {
    program: `${compressors} ${decompressors}`,
    class: "read",
    sub: "-dc|-cd|-dkc|-dcq|-l|-lv|-t|-tv",
    operands: "read*",
    suffixes: packedEndings,
    why: "prints the contents of compressed files",
  },
  {
    program: decompressors,
    class: "read",
    sub: "-c",
    operands: "read*",
    suffixes: packedEndings,
    why: "prints the contents of compressed files",
  },
  {
    program: `${compressors} ${decompressors}`,
    class: "medium",
    flags: "-# -[cdkqtvz] --keep --decompress --stdout --fast --best --quiet --verbose",
    operands: "write*",
    why: compressing,
  },
];

const programs = new Set(rows.flatMap(({ program }) => program.split(" ")));

export const fileRows: readonly CommandRow[] = [
  { program: [...programs].join(" "), class: "read", sub: "--help|--version", why: "prints its help or version" },
  ...rows,
];
