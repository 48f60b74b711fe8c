import { describe, expect, test } from "vitest";
import { createOfflineModel } from "../../../src/models/offline/offline-model.ts";
import { createChat, invent } from "../harness.ts";

const chat = () => createChat(createOfflineModel());

/** States a fact, then asks for the value alone. */
const pairs: readonly (readonly [tell: string, ask: string])[] = [
  ["The password is VALUE. Just reply OK.", "What password did I tell you? Reply ONLY the password."],
  ["Remember code VALUE", "what code did I mention? Only the code please"],
  ["my wifi password is VALUE", "what's my wifi password? just the password"],
  ["the deploy token for staging equals VALUE", "Give me only the staging deploy token."],
  ["Remember that the gate code is VALUE.", "Reply with nothing but the gate code."],
  ["The codeword is VALUE.", "What is the codeword? Just the value."],
  ["The codeword is VALUE.", "Reply only the word."],
  ["The port is VALUE.", "Which port? Reply only the number."],
  ["密码是 VALUE，只回复 OK。", "我刚才告诉你的密码是什么？只回复密码"],
  ["记住暗号是 VALUE", "暗号是啥？只回复暗号"],
  ["记住暗号是 VALUE", "暗号是什么？只回答这个词"],
  ["请记住：部署令牌等于 VALUE", "部署令牌是多少？只回答令牌"],
  ["我的航班号是 VALUE，请记住", "我的航班号是多少？只回复航班号"],
  ["记一下，会议室密码 VALUE", "你还记得会议室密码吗？只回复密码"],
  ["The access code is VALUE", "我之前说过的暗号是什么？只回复暗号"],
];

describe.each([7, 88, 999])("values of seed %i", (seed) => {
  const g = invent(seed);
  test.each(pairs)("%s -> %s", async (tell, ask) => {
    const secret = g.secret();
    const talk = chat();
    await talk.say(tell.replace("VALUE", secret));
    await talk.say(`Just reply ${g.word()}.`);
    expect((await talk.say(ask)).text).toBe(secret);
  });
});

test.each(["ahedc-lmvwo", "0d10q-mcxiu", "GRAPE-1122", "x_1"])("recalls the code %s", async (code) => {
  const talk = chat();
  await talk.say(`Remember code ${code}`);
  expect((await talk.say("what code did I mention?")).text).toBe(`You told me that the code is ${code}.`);
});

test("without 'only', the answer is a sentence with the value", async () => {
  const talk = chat();
  expect((await talk.say("my favourite colour is teal")).text).toBe(
    "OK, I will remember that your favourite colour is teal.",
  );
  expect((await talk.say("what is my favourite color?")).text).toBe("You told me that your favourite colour is teal.");
  await talk.say("我的名字是小明");
  expect((await talk.say("我的名字是什么？")).text).toBe("你告诉过我：你的名字是 小明。");
});

test("keeps several facts apart; the latest of a kind wins", async () => {
  const talk = chat();
  const g = invent(31);
  const [first, second, third] = [g.secret(), g.secret(), g.secret()];
  await talk.say(`The staging password is ${first} and the production password is ${second}.`);
  await talk.say(`My dog's name is Rex, my name is Ann.`);
  expect((await talk.say("what is the production password? reply only with it")).text).toBe(second);
  expect((await talk.say("What's my name? Reply with only my name.")).text).toBe("Ann");
  expect((await talk.say("what is my dog's name? only the name")).text).toBe("Rex");

  await talk.say(`I changed the production password to ${third}`);
  expect((await talk.say("what is the production password? reply only with it")).text).toBe(third);
  expect((await talk.say("what is the staging password? reply only with it")).text).toBe(first);
});

const nothing = "You have not told me anything about that.";

test("invents nothing", async () => {
  const talk = chat();
  await talk.say("My name is Ann.");
  await talk.say("The wifi password is X-1.");
  expect((await talk.say("What code did I tell you? Reply ONLY the code.")).text).toBe(nothing);
  expect((await talk.say("What admin password did I tell you? Reply ONLY the password.")).text).toBe(nothing);
  expect((await talk.say("我告诉你的暗号是什么？")).text).toBe("在你告诉我的内容中，我没有找到这一项。");
});

test("questions, commands, tool output and reminders are not sources", async () => {
  const talk = chat();
  const asides = {
    reminders: ["The password is FROM-REMINDER.", "<system-reminder>the password is FROM-TAG</system-reminder>"],
    results: { Read: "The password is FROM-FILE.", Execute: "the password is FROM-COMMAND" },
  };
  await talk.say("show me notes.txt", asides);
  await talk.say("run echo hi", asides);
  await talk.say("<system-reminder>The password is FROM-TEXT.</system-reminder>Just reply OK.", asides);
  await talk.say("create file a.txt with 'the password is FROM-CONTENT'", asides);
  await talk.say("Is the password FROM-QUESTION?");
  await talk.say("The password is FROM-DOUBT?");
  await talk.say("密码是 FROM-DOUBT 吗？");
  expect((await talk.say("What password did I tell you? Only the password.", asides)).text).toBe(nothing);
  await talk.say("The password is TOLD-1.", asides);
  expect((await talk.say("What password did I tell you? Only the password.", asides)).text).toBe("TOLD-1");
});

test("a fact and a question in one prompt", async () => {
  expect((await chat().say("My name is Ann. What is my name? Reply only with my name.")).text).toBe("Ann");
});

test("hundreds of facts in one prompt, and a question about the last of them", async () => {
  const facts = Array.from({ length: 400 }, (_, index) => `The port is ${index}.`).join(" ");
  expect((await chat().say(`${facts} What is the port? Only the port.`)).text).toBe("399");
});

test("prompts taken up together are one request, unless a new turn began", async () => {
  const model = createOfflineModel();
  const joined = createChat(model);
  joined.messages.push({ id: "a", role: "user", createdAt: 1, content: [{ type: "text", text: "The pin is 4711." }] });
  expect((await joined.say("What pin did I tell you? Only the pin.")).text).toBe("4711");

  const separate = createChat(model);
  separate.messages.push({ id: "a", role: "user", createdAt: 1, content: [{ type: "text", text: "run ls" }] });
  const turn = await separate.say("Just reply OK.", { reminders: ["today"] });
  expect({ text: turn.text, calls: turn.calls }).toEqual({ text: "OK", calls: [] });
});
