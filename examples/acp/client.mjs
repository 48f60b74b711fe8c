// A small editor: sends one prompt to an ACP agent, shows its work, and lets it change files but run nothing.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const [prompt = "create file hello.txt with Hello!", ...given] = process.argv.slice(2);
const [command, ...args] = given.length > 0 ? given : ["tinman", "acp"];
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });

const editor = client({ name: "small-editor" })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === "agent_message_chunk") process.stdout.write(update.content.text);
    if (update.sessionUpdate === "tool_call") console.log(`\n[${update.kind}] ${update.title}`);
    if (update.sessionUpdate === "tool_call_update" && update.status === "failed") console.log("[failed]");
  })
  .onRequest(methods.client.session.requestPermission, ({ params: { toolCall, options } }) => {
    const kind = toolCall.kind === "edit" ? "allow_once" : "reject_once";
    const { optionId } = options.find((option) => option.kind === kind);
    console.log(`[asked] ${toolCall.title}: ${kind}`);
    return { outcome: { outcome: "selected", optionId } };
  });

const { agent } = editor.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
const { sessionId } = await agent.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
const text = [{ type: "text", text: prompt }];
const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt: text });
console.log(`\n${stopReason}`);
child.stdin.end();
