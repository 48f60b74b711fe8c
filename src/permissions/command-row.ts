import type { AccessClass } from "../core/permission.ts";

/**
 * One way of calling a program that we know: with these flags and operands, it has this class. A call that fits no row of
 * its program is not known, and so `high`. Rows of a program are tried in their order.
 */
export interface CommandRow {
  /** One or more programs that are alike, separated by spaces. */
  readonly program: string;
  /** Words that follow the program, as in `stash list`; alternatives are separated by `|`. */
  readonly sub?: string;
  readonly class: AccessClass;
  /**
   * The flags that are known, separated by spaces: `-a`; `-[abc]` for several letters; `--all`; `-#` for `-12`. Behind a flag:
   * `:` it takes a text; `::` two of them; `<` it takes a file that is read; `>` it takes a file that is written; `?` it may
   * have a text attached. Letters may be bundled, and a value may stand in the same word or in the next.
   */
  readonly flags?: string;
  /** Flags of which at least one must be there, separated by spaces. */
  readonly needs?: string;
  /** Flags with one dash and a long name, which are never bundled, as Go's. */
  readonly longDash?: true;
  /**
   * What the other words are, in their order: `text`, `read` (a file that is read) or `write` (a file that is written), each
   * with `?` for one that may be missing or `*` for any number. Nothing: there must be none.
   */
  readonly operands?: string;
  /** Flags that give what else the first operand is, separated by spaces; with one of them the first `text` is missing. */
  readonly scriptFlags?: string;
  /** Flags whose values are texts that `script` looks at, besides the `scriptFlags`. */
  readonly checkedFlags?: string;
  /** Why a text (an operand, or the value of a flag above) is not harmless; `undefined` when it is. */
  readonly script?: (text: string) => string | undefined;
  /** The same for a text that is attached to a flag which may have one. */
  readonly attached?: (text: string) => string | undefined;
  /** No flag of this program can do harm, so a text that is not known beforehand may turn out to be one. */
  readonly anyFlag?: true;
  /** It uses the working directory: to read it when no file is named, or else to change something in it. */
  readonly folder?: true;
  /** Whether it reads everything below a folder: always, or with one of these flags. */
  readonly recursive?: true | string;
  /** It deletes its operands, with all that is in them. */
  readonly deletes?: true;
  /** Folders among its sources go to another place as a whole. */
  readonly movesFolders?: true;
  /** It shows nothing of what is in `.git`: it prints names only, or passes over hidden files. */
  readonly sparesGit?: true;
  /** Whether it follows the symbolic links in a folder: always, or with one of these flags when it reads all of it. */
  readonly followsLinks?: true | string;
  /** Its sources are what links lead to, as seen from where the links are. */
  readonly linksTo?: true;
  /** The last file may be a folder, in which files with the names of the others are overwritten, through links too. */
  readonly fillsFolder?: true;
  /**
   * It picks the names of the files that it writes, by what it fetches or unpacks: into the folder that a flag names, or else
   * the working directory. A single file may be written through a link that is there; a patch goes through none, and never
   * into `.git`.
   */
  readonly picksNames?: "file" | "archive" | "patch";
  /** A text of its that names an existing file means that file, which is then overwritten. */
  readonly textMayBeFile?: true;
  /** Flags whose value is a folder that it empties first, separated by spaces. */
  readonly empties?: string;
  /** Files that it writes by itself, separated by spaces, in its folder or the user's home. */
  readonly writes?: string;
  /** It writes all over the repository's working tree. */
  readonly writesTree?: true;
  /** The name that it gives to what it writes, by a text, when no file to write is named; `undefined` when that is not clear. */
  readonly namedBy?: (text: string) => string | undefined;
  /** The values of its flags may name files to write, in ways of their own. */
  readonly writesValues?: true;
  /**
   * What it writes may be links, or folders with links in them: always, or with one of these flags. Paths that a later part of
   * the command uses may then lead elsewhere than before.
   */
  readonly makesLinks?: true | string;
  /** It changes files where they are, and makes none. */
  readonly keepsNames?: true;
  /** Endings that it tries for a file that is read, separated by spaces. */
  readonly suffixes?: string;
  /** Why the name of a file is more than that; `undefined` when it is not. */
  readonly path?: (text: string) => string | undefined;
  /** It prints lines of ignore files that it does not understand, of its folder, those it searches, and those above. */
  readonly obeysIgnoreFiles?: true;
  /** It shows where a repository came from, with credentials that stand in the addresses. */
  readonly showsRemotes?: true;
  /** It shows commits, and checks their signatures with another program if git's settings say so. */
  readonly showsCommits?: true;
  /** It sends its words to other machines, so they must be known. */
  readonly knownWords?: true;
  /** It is git: what the repository's own files say may make it run programs. */
  readonly git?: true;
  /** Why it has this class, to complete "it …". */
  readonly why: string;
}
