import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../../text/system-errors.ts";
import { whereItLeads } from "../files/where-it-leads.ts";

/** Python's own modules that a tool may import. Left out: those that only programmers use, and `test`. */
const standard = `
  abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile
  calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression concurrent
  configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis
  distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib
  functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imghdr imp
  importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal
  math mimetypes mmap modulefinder msvcrt multiprocessing netrc nntplib nt ntpath nturl2path numbers opcode operator
  optparse os pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats
  pty pwd py_compile pyclbr pydoc pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets
  select selectors shelve shlex shutil signal smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants
  sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile
  telnetlib tempfile termios textwrap threading time timeit token tokenize tomllib trace traceback tracemalloc tty types
  typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg wsgiref xdrlib xml xmlrpc zipapp
  zipfile zipimport zlib zoneinfo`;
/** Modules that pip and the like import if they are there. */
const optional = `attr attrs brotli brotlicffi cryptography keyring OpenSSL pkg_resources setuptools simplejson socks
  truststore wheel`;
const imported: ReadonlySet<string> = new Set(`${standard} ${optional}`.trim().split(/\s+/));

const internal = /^_(?:[A-Za-z]|_future__$)/;
const moduleFile = /^([A-Za-z_]\w*)(?:\.[\w-]+)?\.(?:py|pyc|pyw|so|pyd|dylib)$/;

/**
 * What Python would load from a folder instead of an installed module: `python -m` looks in the working directory first,
 * for the module and for all that it imports.
 */
export async function shadowingModules(folder: string, module: string): Promise<readonly string[]> {
  const isLoaded = (name: string): boolean => name === module || imported.has(name) || internal.test(name);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const [real = folder] = await whereItLeads(folder);
  const found: string[] = [];
  for (const entry of entries) {
    const file = moduleFile.exec(entry.name)?.[1];
    const isModule = file !== undefined && isLoaded(file);
    if (isModule || (isLoaded(entry.name) && !entry.isFile() && (await isPackage(join(folder, entry.name)))))
      found.push(join(real, entry.name));
  }
  return found;
}

/** Python prefers an installed module to a folder without these. */
async function isPackage(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => /^__(?:init|main)__\./.test(name));
}
