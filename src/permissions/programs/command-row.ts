import type { AccessClass } from "../../engine/permission.ts";

/**
 * A known way to call a program: with these flags and operands, it has this class. A call that fits no row of its
 * program is unknown, and so `high`. A program's rows are tried in order. `readTable` reads rows from text.
 */
export interface CommandRow {
  /** One or more similar programs, separated by spaces. */
  readonly program: string;
  /** Words that follow the program, as in `stash list`; alternatives are separated by `|`. */
  readonly sub?: string;
  readonly class: AccessClass;
  /**
   * The known flags, separated by spaces: `-a`; `-[abc]` for several; `--all`; `-#` for `-12`. A suffix tells what one
   * takes: `:` a text; `::` two texts; `<` a file to read; `>` a file to write; `?` optionally an attached text.
   */
  readonly flags?: string;
  /** Flags, separated by spaces, of which at least one is required. */
  readonly needs?: string;
  /** Flags have one dash and a long name and are never bundled, like Go's. */
  readonly longDash?: true;
  /**
   * The other words, in order: `text`, `read` (a file to read) or `write` (a file to write), with `?` if optional or
   * `*` for any number. Without this field, no other words are allowed.
   */
  readonly operands?: string;
  /** Flags, separated by spaces, whose value replaces the first `text` operand. */
  readonly scriptFlags?: string;
  /** Flags besides the `scriptFlags` whose values `script` checks; `*` for all. */
  readonly checkedFlags?: string;
  /** Why a text (an operand, or the value of a flag above) is not harmless; `undefined` if it is. */
  readonly script?: (text: string) => string | undefined;
  /** The same for a text attached to a `?` flag. */
  readonly attached?: (text: string) => string | undefined;
  /** No flag of this program can do harm, so an unknown text may turn out to be a flag. */
  readonly anyFlag?: true;
  /** It uses the working directory: reads it if no file is named, or changes something in it. */
  readonly folder?: true;
  /** Whether it reads everything below a folder: always, or with one of these flags. */
  readonly recursive?: true | string;
  /** It deletes its operands with everything in them. */
  readonly deletes?: true;
  /** It moves whole folders among its sources. */
  readonly movesFolders?: true;
  /** It shows no content of `.git`: it prints only names, or skips hidden files. */
  readonly sparesGit?: true;
  /** Whether it follows symbolic links in a folder: always, or with one of these flags if it reads the whole folder. */
  readonly followsLinks?: true | string;
  /** Its sources are link targets, relative to the links. */
  readonly linksTo?: true;
  /** The last file can be a folder, where files named like the sources are overwritten, even through links. */
  readonly fillsFolder?: true;
  /**
   * What it fetches or unpacks decides the names of the files it writes, in the folder that a flag names or the working
   * directory. A single file may be written through an existing link; a patch never is, nor into `.git`.
   */
  readonly picksNames?: "file" | "archive" | "patch";
  /** A text that names an existing file means that file, which is then overwritten. */
  readonly textMayBeFile?: true;
  /** Flags, separated by spaces, whose value is a folder that it empties first. */
  readonly empties?: string;
  /** Files that it always writes, separated by spaces, in its folder or the user's home. */
  readonly writes?: string;
  /** It may write anywhere in the repository's working tree. */
  readonly writesTree?: true;
  /** The name of the file it writes, derived from a text, if no output is named; `undefined` if unclear. */
  readonly namedBy?: (text: string) => string | undefined;
  /** The values of its flags may name files to write. */
  readonly writesValues?: true;
  /**
   * It may write links, or folders with links: always, or with one of these flags. Paths in later parts of the command
   * may then resolve differently.
   */
  readonly makesLinks?: true | string;
  /** It changes files in place and creates none. */
  readonly keepsNames?: true;
  /** Extensions that it tries for a file to read, separated by spaces. */
  readonly suffixes?: string;
  /** Why a file name has a special meaning; `undefined` if it has none. */
  readonly path?: (text: string) => string | undefined;
  /** Settings files, separated by spaces: one in its folder or above makes it do more, and then it is `medium`. */
  readonly obeys?: string;
  /** It prints malformed lines of ignore files in its folder, the searched folders, and those above. */
  readonly obeysIgnoreFiles?: true;
  /** It starts a tool that must be installed in the project, since it would fetch a package of that name otherwise. */
  readonly installed?: true;
  /** It fetches the refs that the settings of remotes name, and may delete other branches there. */
  readonly fetches?: true;
  /** It shows a repository's remotes, including credentials in their addresses. */
  readonly showsRemotes?: true;
  /** It shows commits, and git's settings may make it check signatures with another program. */
  readonly showsCommits?: true;
  /** It sends its words to other machines, so they must be known. */
  readonly knownWords?: true;
  /** It is git: the repository's own files may make it run programs. */
  readonly git?: true;
  /** Completes "it …": why it has this class. */
  readonly why: string;
}
