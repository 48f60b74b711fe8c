/** How other agents write calls of a tool. Names are compared without case, `_` and `-`. */
interface AliasRow {
  /** Other names for the tool, and the arguments that such a name implies. */
  readonly names: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Other names for its arguments. */
  readonly arguments: Readonly<Record<string, readonly string[]>>;
  /** Other names for the values of an argument, without case, `_` and `-`. */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Arguments without effect here, so dropping them needs no notice. */
  readonly idle?: readonly string[];
}

/** Arguments of any tool in which models explain themselves. */
export const idleEverywhere: readonly string[] = [
  "description",
  "explanation",
  "instruction",
  "justification",
  "reason",
];

/** Arguments that limit what a call does: a tool without them refuses the call. */
export const neverIgnored: readonly string[] = ["dry_run", "simulate", "check_only", "what_if"];

const plainly = (...names: readonly string[]): AliasRow["names"] => Object.fromEntries(names.map((name) => [name, {}]));
const filePath = ["path", "file", "filename", "target_file", "absolute_path"];
const folder = ["path", "directory", "dir", "dir_path", "folder", "target_directory", "relative_workspace_path"];
const showsLines = { output_mode: "content", line_numbers: true };

export const callAliases: Readonly<Record<string, AliasRow>> = {
  Execute: {
    names: plainly(
      ...["Bash", "shell", "local_shell", "shell_command", "exec_command", "execute_command", "execute_bash"],
      ...[
        "run_shell_command",
        "run_command",
        "run_terminal_cmd",
        "run_terminal_command",
        "run_in_terminal",
        "terminal",
      ],
    ),
    arguments: {
      command: ["cmd", "command_line", "script"],
      fireAndForget: ["run_in_background", "is_background", "background"],
    },
    idle: [
      ...["requires_approval", "require_user_approval", "with_escalated_permissions", "sandbox_permissions"],
      ...["login", "tty", "shell", "yield_time_ms", "max_output_tokens", "blocking"],
    ],
  },
  Read: {
    names: plainly("read_file", "view_file", "view", "open_file", "cat"),
    arguments: { file_path: filePath },
    idle: ["should_read_entire_file"],
  },
  LS: {
    names: plainly("list_directory", "list_dir", "list_files", "list", "list_folder"),
    arguments: { directory_path: folder, ignorePatterns: ["ignore", "ignore_globs", "exclude"] },
    idle: ["file_filtering_options", "respect_git_ignore"],
  },
  Grep: {
    names: {
      search_file_content: showsLines,
      grep_search: showsLines,
      search_files: showsLines,
      search_text: showsLines,
      rg: showsLines,
    },
    arguments: {
      pattern: ["query", "regex", "regexp", "search"],
      path: ["dir_path", "directory", "folder", "target_directory"],
      glob_pattern: ["glob", "include", "include_pattern", "file_pattern"],
      case_insensitive: ["-i", "ignore_case"],
      line_numbers: ["-n"],
      context_before: ["-B"],
      context_after: ["-A"],
      context: ["-C"],
      head_limit: ["max_results", "limit"],
    },
    values: { output_mode: { fileswithmatches: "file_paths", files: "file_paths", lines: "content" } },
  },
  Glob: {
    names: plainly("file_search", "find_files", "find", "glob_file_search", "find_by_name", "search_by_name"),
    arguments: {
      patterns: ["pattern", "glob", "glob_pattern", "query"],
      folder,
      excludePatterns: ["exclude", "ignore", "excludes"],
    },
    idle: ["case_sensitive", "respect_git_ignore"],
  },
  Create: {
    names: plainly("Write", "write_file", "write_to_file", "create_file", "new_file", "save_file"),
    arguments: { file_path: filePath, content: ["contents", "file_text", "text", "code", "file_content"] },
    idle: ["line_count"],
  },
  Edit: {
    names: plainly(
      "str_replace",
      "replace",
      "edit_file",
      "replace_string_in_file",
      "search_replace",
      "replace_in_file",
    ),
    arguments: {
      file_path: filePath,
      old_str: ["old_string", "old_text", "search", "find", "old", "target_content"],
      new_str: ["new_string", "new_text", "replace", "replacement", "new", "replacement_content"],
      change_all: ["replace_all", "allow_multiple"],
    },
    idle: ["expected_replacements"],
  },
  ApplyPatch: { names: plainly("patch"), arguments: { input: ["patch", "patch_text", "diff"] } },
  TodoWrite: {
    names: plainly("update_plan", "write_todos", "manage_todo_list", "update_todo_list", "todo"),
    arguments: { todos: ["plan", "todo_list", "items", "tasks"] },
    idle: ["merge", "operation"],
  },
  AskUser: {
    names: plainly("AskUserQuestion", "ask_followup_question", "ask_question", "question", "ask_questions"),
    arguments: { questionnaire: ["questions", "question"] },
  },
  ExitSpecMode: { names: plainly("ExitPlanMode", "plan_mode_respond"), arguments: { plan: ["response"] } },
  FetchUrl: {
    names: plainly("WebFetch", "fetch", "fetch_webpage", "fetch_url", "read_url", "read_url_content"),
    arguments: { url: ["uri", "urls"] },
    idle: ["prompt", "query", "format", "timeout"],
  },
};

/** Tools with an argument `command` that selects an operation. */
export const editorNames: readonly string[] = ["str_replace_editor", "str_replace_based_edit_tool", "editor"];
export const editorCommands: Readonly<Record<string, string>> = {
  view: "Read",
  create: "Create",
  str_replace: "Edit",
};
