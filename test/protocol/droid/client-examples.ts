/* Messages of the protocol as clients of its first dialect write them, kept by hand. */

const envelope = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };
const request = { ...envelope, type: "request" };
const answer = { ...envelope, type: "response" };
const uuid = "1887395f-fcc3-4703-ac35-349cccca8a1f";
const question = "Which color do you want?";

export const initialize = {
  ...request,
  id: "1",
  method: "droid.initialize_session",
  params: {
    machineId: "machine-probe",
    cwd: "/path/to/workspace",
    sessionId: "probe-1",
    modelId: "gpt-5.1",
    autonomyLevel: "auto-low",
    reasoningEffort: "none",
  },
};

/** Requests of a client. */
export const clientRequests: Readonly<
  Record<string, { readonly id: string; readonly method: string; readonly params: unknown }>
> = {
  "initialize_session with everything": initialize,
  "initialize_session of a script": {
    ...request,
    id: "1",
    method: "droid.initialize_session",
    params: { machineId: "m1", cwd: "/tmp/droid-resume-clean", modelId: "kimi-k2.5", autonomyLevel: "auto-low" },
  },
  "initialize_session in spec mode": {
    ...request,
    id: "1",
    method: "droid.initialize_session",
    params: { machineId: "m1", cwd: "/tmp", autonomyLevel: "spec" },
  },
  load_session: {
    ...request,
    id: "2",
    method: "droid.load_session",
    params: { sessionId: "a3179cea-cbc4-404f-aa54-5ba7e82d23b5" },
  },
  add_user_message: { ...request, id: "2", method: "droid.add_user_message", params: { text: "Just reply OK." } },
  update_session_settings: {
    ...request,
    id: "3",
    method: "droid.update_session_settings",
    params: { reasoningEffort: "xhigh" },
  },
  interrupt_session: { ...request, id: "4", method: "droid.interrupt_session", params: {} },
};

export const permissionAnswers: Readonly<Record<string, { readonly id: string; readonly result: unknown }>> = {
  proceed_once: { ...answer, id: uuid, result: { selectedOption: "proceed_once" } },
  proceed_auto_run_low: { ...answer, id: uuid, result: { selectedOption: "proceed_auto_run_low" } },
  proceed_auto_run_medium: { ...answer, id: uuid, result: { selectedOption: "proceed_auto_run_medium" } },
  proceed_auto_run_high: { ...answer, id: uuid, result: { selectedOption: "proceed_auto_run_high" } },
  cancel: { ...answer, id: uuid, result: { selectedOption: "cancel" } },
};

export const questionAnswers: Readonly<Record<string, { readonly id: string; readonly result: unknown }>> = {
  objects: { ...answer, id: uuid, result: { cancelled: false, answers: [{ index: 1, question, answer: "Red" }] } },
  "plain strings": { ...answer, id: uuid, result: { answers: ["Red"] } },
};
