/** Prompts that documentation uses as examples. */
import type { Clause, Intent } from "./intent-types.ts";
import { withoutEnd } from "./words.ts";

const helloWorld =
  /^(?:explain|describe|show(?: me)?|what(?:['’]s| is))\s+(?:a |an |the )?(?:classic |simple )?["'“]?hello,?[ -]world["'”!]*(?:\s+(?:program|example|script|code))?(?:\s+(?:in|with|using)\s+(?<language>[a-z+#]+))?$/i;

const programs: Readonly<Record<string, readonly [name: string, program: string]>> = {
  bash: ["Bash", 'echo "Hello, World!"'],
  c: ["C", '#include <stdio.h>\n\nint main(void) {\n  puts("Hello, World!");\n  return 0;\n}'],
  go: ["Go", 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("Hello, World!")\n}'],
  javascript: ["JavaScript", 'console.log("Hello, World!");'],
  python: ["Python", 'print("Hello, World!")'],
  ruby: ["Ruby", 'puts "Hello, World!"'],
  rust: ["Rust", 'fn main() {\n    println!("Hello, World!");\n}'],
  typescript: ["TypeScript", 'console.log("Hello, World!");'],
};

/** "explain hello world in python" */
export function sample({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  const found = helloWorld.exec(asked);
  if (found !== null) {
    const language = (found.groups?.language ?? "python").toLowerCase();
    const known = Object.hasOwn(programs, language) ? programs[language] : undefined;
    if (known === undefined) return undefined;
    const [name, program] = known;
    const words = `The classic "Hello World" program in ${name} prints one line of text:`;
    return { type: "reply", text: `${words}\n\n\`\`\`${language}\n${program}\n\`\`\`` };
  }
  return placeholder.test(asked) ? { type: "placeholder" } : undefined;
}

/** "your prompt", "start task": they stand for a request, and are none. */
const placeholder =
  /^(?:(?:your|my|the|a|an)\s+)?(?:(?:start|begin|complex|simple|sample|example|first|new)\s+)*(?:(?:your|my|the|a|an)\s+)?(?:prompt|task)$/i;
