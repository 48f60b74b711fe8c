/** The grammar: patterns in both languages by meaning, and the step for each meaning. */
import { ask, create, edit, glob, grep, type Intent, list, read, run, summary, todo } from "./steps.ts";
import { type Fact, factFor, factFrom, introduced, namesThing, noted, recalled, sumOf, talk } from "./talk.ts";
import { capital, endingOf, hasHan, isCodeName, riskOf, shorten, withoutEnd } from "./texts.ts";

const place =
  "( here| there| in (this|the|the current|my) (folder|directory|repo|project)| (in|of|inside|under)( the| my)?( folder| directory)? {folder}( folder| directory)?)";
const inCode = "( in( the)? {folder}| in (the|this) (code|codebase|project|repo))?";
const say =
  "((just|only|simply) )?(reply|respond|answer|say|output)( only| just| exactly| nothing but)?( with)?( only| exactly)?";
const tell = "(reply|respond|answer|say|output|give|tell|show)( me)?( with)?";
const content = "(with|containing|that says)( the)?( content| contents| text)?:? {content}";
const remember = "(remember|memorize|keep in mind)( that| this)?:?";
const rememberZh = "(记住|记下|记得|记一下)[，,：:]?";
const repo = "(code|(this|the|my) (repo|repository|project|codebase|code))";
const inside = "(里面|里|中|下面|下)";
const folderZh = "((当前|这个|本)?(目录|文件夹|项目|这里)|{folder} (目录|文件夹)?)";
const usedZh = "(用到|使用|定义|调用|引用|提到)(了|过|的)?";

/**
 * Lines of `meaning: pattern`; the first match of a whole clause wins. A space is any space (in Chinese, also none),
 * `(…)` groups, `{name}` or `{name:kind}` is a slot of texts.ts, `{rest}` the rest of the request.
 */
const grammar = `
todo: ((track|add|write|create|make|keep)( me)?( these| the following| a)? )?(todos?|tasks)( list)?( with)?: {rest}
todo: (add|put) {rest} (to|on) (my|the) (todo|to-do|task) list
todo: (记录|添加|创建|跟踪)?(以下|这些)?(待办事项|待办|任务清单)(清单|列表)?[：:，,] {rest}
plan: (make|create|write|give me|show me) a plan( to| for|:)? {rest}
plan: plan( how)? to {rest}
plan: (制定|做|写)一?个?计划[：:，,]?来? {rest}
ask: ask (me|the user) (which|what) {thing:some} I {verb:some}[:,] {rest}
ask: 问一?下?我 {verb:some} (哪[种个]|什么) {thing:some} [，,：:] {rest}
toldRecall: (what|which) {thing:some} (did|have) I (just )?(tell|told|mention|mentioned|say|give|given|share|shared)( you)?( before| earlier)?
toldRecall: do you (still )?(remember|recall)( the| my)? {thing:some}
toldRecall: 我(刚才|刚刚|之前)?(告诉|跟你说|说|提到)过?你?的? {thing:some} 是?(什么|啥|多少)
toldRecall: 你?还?记得 {thing:some} (吗|是什么|是多少)
reply: ${say}( the (word|text|string))?:? {text}( if you understand)?
reply: ${say} the word {text:bareWord}
reply: your( whole)? (answer|reply) must be( exactly)?:? {text}
reply: 你?(只需要?|只要|只|仅|直接)?(回复|回答|说|输出)我?[：:]? {text} (即可|就行)?
edit: (replace|change)(?<all> all)?( occurrences of)?( the)?( word)? {from:word} (with|to) {to:word} in( the)?( file)? {file}
edit: in( the)?( file)? {file},? (replace|change)(?<all> all)? {from:word} (with|to) {to:word}
edit: (把|将|在)? {file} ${inside}?的? [，,]? (把|将)?(?<all>所有|全部)?的? {from:word} 都?(改成|改为|替换成|替换为|换成) {to:word}
create: (create|make|add|write|new)( an?| the)?( new)?( text)? file( called| named)? {path:name},?( and)? ${content}
create: (create|make|add|write)( an?| the)?( new)? {path:file} ${content}
create: (write|put|save)( the)?( text| word)? {content} (to|into|in)( the| a)?( new)?( file)? {path:file}
create: (create|make|add)( an?)?( new)? (empty|blank) file( called| named)? {path:name}
create: (创建|新建|写)(一?个)?新?(文件|叫|名为)* {path:name} 的?(文件)? [，,]? (内容)?(为|是|写入|写|：|:| )+ {content}
create: (把|将) {content} (写入|写到|保存到|存到)(文件)? {path:file}
remember: ${remember} {thing:some} (is|are|was|=|equals) {value}
rememberNamed: ${remember} {thing:some}:? {value:token}
remember: ${remember} {value:token}
remember: remember that {value}
remember: ${rememberZh} {thing:some} (是|为|叫|等于|=|：|:) {value}
rememberNamed: ${rememberZh} {thing:some}(?<![!-~]) {value:token}
remember: ${rememberZh} {value:token}
glob: (find|list|show|show me)( all| every)?( of)?( the)? {ending} files?${place}?
glob: (find|list|show me)( all)?( the)? files? (named|called|matching) {glob}
glob: (find|locate|where is|where's)( the)?( file)? (?=\\S*\\.){glob:file}
glob: (列出|找出|查找|找|有哪些)?( 在? {folder} (目录|文件夹)?${inside})?的?(所有|全部)?的? {ending} 源?文件
glob: {glob:file} 在(哪里|哪儿|哪)
grep: (search|grep|look)( through| in)?( the)?( code| codebase| project| repo| files)? for( the)?( text| word| string)? {code}${inCode}
grep: (find|search)( all)?( the)?( text| word| string| function| class| definition of| uses of| references to)? {code}${inCode}
grep: ((find|show me) )?where( is| are)?( the)?( function| class)? {code}( is| are)? (used|defined|called|imported|mentioned)${inCode}
grep: (which|what|find|list)( all)?( the)? files? (that )?(mention|contain|use|define|containing|mentioning|using)s? {code}${inCode}
grep: (where do (we|I) (use|define|call|import)|who (uses|calls|imports)) {code}
grep: (搜索|查找|搜|找)(一下)?(文本|字符串|函数|所有)? {code} 的?(地方|用法|引用|定义)?
grep: (在|从) {folder} (目录|文件夹)?${inside}(搜索|查找|搜|找) {code}
grep: 在?(哪里|哪儿|哪些文件|哪个文件|谁)${inside}?都?${usedZh} {code}
grep: {code} 是?(在?(哪里|哪儿|哪个文件|哪些文件)${inside}?被?|被谁)${usedZh}
run: (run|execute)( the| this)?( shell)?( command)?:? {command}( command)?( and (show|tell|give) me the (output|result))?
run: (在|用)?(终端|命令行)?里? (运行|执行|跑)(一?下)?(命令)? {command} (命令)?
run: {command:shell}
read: (read|show|display|print|cat|open)( me)?( the (content|contents|text) of)?( the)?( file)? {path}( back| again)?
read: what does( the)?( file)? {path} (say|contain)
read: what('s| is) in( the)?( file)? {path:file}
read: (读取|读|查看|看看|看一下|打开|显示)(一下)?(文件)? {path} 的?(内容)?(看看|是什么)?
read: {path:file} ${inside}?(写了|写着|是|有)(什么|啥)
runToSee: (what does( running)?|(show me|what is|what's) the output of) {command}( print| say| output| return| show)?
runToSee: {command} 的?(输出|打印|显示)(是|了)?(什么|啥)
list: (list|show|display|print)( me)?( all)?( the)? (files|folders|contents|entries|everything|directory)${place}?
list: (what|which) (files|folders) (are|are there|exist|do we have)${place}?
list: what('s| is)${place}
list: list (?=\\S*/){folder}
list: 列出 (?=\\S*/){folder}
list: (列出|显示|查看|看看)(一下)?( ${folderZh} ${inside}?)?的?(所有|全部)?的?(文件|内容)(列表)?
list: (看看|查看)? ${folderZh} ${inside}?都?有(哪些|什么|啥)(文件|东西|内容)?
summary: (summarize|summarise|analyze|analyse) ${repo}|what does ${repo} do
summary: (总结|概括|概述|介绍|分析)(一下)?(这个|本|当前)?(仓库|项目|代码库|代码)
sum: (what is |what's |calculate |compute )?{sum}
sum: (计算|算一?下|算)? {sum} (等于|=)?是?(多少|几)
placeholder: ((your|my|the|a) )?((start|complex|simple|example) )*(prompt|task)
helloWorld: explain hello world in python
greet: (hi|hello|hey|good morning)( there| tinman)?
greet: (你好|您好|嗨|早上好)[呀啊]?
help: (who|what|which model) are you|help( me)?|what can you do
help: 你是(谁|什么模型)|帮助|你(能|会|可以)(帮我)?(做|干)些?(什么|啥)
thanks: (thanks|thank you)( so much| very much)?
thanks: 谢谢你?
continue: (continue|go on|proceed)( with)?( the)?( next)?( step| task| work)?
continue: 继续(下一步|任务)?
recall: (what('s| is| was)( the| my| our)?|tell me (the|my|our)|which) {thing:some}
recall: {thing:some} (是|叫)(什么|啥|多少|几)
recall: 告诉我 {thing:some}
state: {thing:mine}( is| equals| =|:) {value}(,?( and)? (remember|don't forget) (it|this|that))?
state: I (changed|updated|set) {thing:mine} to {value}
state: {thing:some} (是|为|叫|等于|=|：|:) {value}([，,] 请?记住)?
pick: (${tell} )?(only|just|nothing but)( with)?( the| my| that| this)? {thing:some}( itself)?
pick: ${tell} (the|my|that|this) {thing:some} (only|alone|itself)
pick: (只需要?|只要|只|仅)(回复|回答|说|输出|告诉我|给我)?(这个|那个)? {thing:some}
aside: nothing (else|more)|no (other words|explanation|comments)|(if|when) you understand|this is (just |only )?a test
aside: please
aside: (不要|不用|无需)说?(别的|其他|解释|多余的).{0,4}|如果你?(明白|理解)了?|这是(一个|个)?测试
`;

/** Context from before a clause: the last file named, and the user's facts. */
export interface State {
  readonly path: string | undefined;
  earlier(): Earlier;
}

export interface Earlier {
  readonly facts: readonly Fact[];
  /** The previous request, if it was understood. */
  readonly last: string | undefined;
}

/** A slot's text; empty if the pattern has none. */
type Slot = (name: string) => string;
type Make = (slot: Slot, state: State, isQuoted: (name: string) => boolean) => Intent | undefined;

const meanings: Readonly<Record<string, Make>> = {
  todo(slot) {
    const items = itemsOf(slot("rest"), slot("rest").includes("\n") ? /\n/ : /,\s*and\s|[,;，；、]|\sand\s/);
    return items && todo(items);
  },
  plan: (slot) => ({ kind: "plan", goal: withoutEnd(slot("rest")) }),
  ask(slot) {
    const [thing, verb] = [slot("thing"), slot("verb")];
    const options = itemsOf(slot("rest"), /,\s*or\s|,|\sor\s|还是|或者?|[、，]/) ?? [];
    if (options.length < 2 || options.some((option) => option.split(" ").length > 4)) return undefined;
    const question = hasHan(thing) ? `你${verb}哪种${thing}？` : `Which ${thing} do you ${verb}?`;
    return ask(question, capital(thing), options);
  },
  toldRecall: (slot, { earlier }) => recalled(factFor(slot("thing"), earlier().facts), slot("thing")),
  reply: (slot) => ({ kind: "reply", text: slot("text") }),
  edit(slot, _, isQuoted) {
    const [from, to] = [slot("from"), slot("to")];
    // Text in a code slot can be a description: "TODO with implementation", eval 改成 安全的写法.
    const describes = (hasHan(to) && !hasHan(from)) || (isCodeName(from) && /^[a-z]+$/.test(to));
    return describes && !isQuoted("to") ? undefined : edit(slot("file"), from, to, slot("all") !== "");
  },
  create: (slot) => (/^(?:tests?|测试)$/i.test(slot("content")) ? undefined : create(slot("path"), slot("content"))),
  remember: (slot) => noted(factFrom(slot("thing"), slot("value"), "asked")),
  rememberNamed: (slot) =>
    namesThing(slot("thing")) ? noted(factFrom(slot("thing"), slot("value"), "asked")) : undefined,
  glob: (slot) => glob(slot("glob").replace(/^\.(?=\w+$)/, "*.") || `*.${endingOf(slot("ending"))}`, slot("folder")),
  grep: (slot) => grep(slot("code"), slot("folder")),
  run: (slot) => run(slot("command")),
  // A question must not change anything.
  runToSee: (slot) => (riskOf(slot("command")) === "low" ? run(slot("command")) : undefined),
  read: (slot) => read(slot("path")),
  list: (slot) => list(slot("folder").replace(/(?<=.)\/+$/, "")),
  summary,
  sum: (slot) => sumOf(slot("sum")),
  placeholder: () =>
    introduced("This prompt is a placeholder, so nothing was done. ", "这只是一个占位的请求，没有做任何事。"),
  helloWorld: () => talk('"Hello World" in Python prints one line of text:\n\n```python\nprint("Hello, World!")\n```'),
  greet: () => ({ ...introduced("Hello! ", "你好！"), isPolite: true }),
  help: () => introduced("", ""),
  thanks: () => ({ ...talk("You are welcome.", "不客气。"), isPolite: true }),
  continue(_, { earlier }) {
    const request = shorten(earlier().last ?? "", 200);
    if (request === "") return undefined;
    return introduced(
      `Your last request was "${request}". I keep no unfinished steps of it, so please name the next step. `,
      `你上一个请求是“${request}”。我没有保留未完成的步骤，请直接说出下一步。`,
    );
  },
  recall(slot, { earlier }) {
    const fact = factFor(slot("thing"), earlier().facts);
    if (fact !== undefined) return recalled(fact, slot("thing"));
    return namesThing(slot("thing")) ? { ...recalled(undefined, slot("thing")), understood: false } : undefined;
  },
  state(slot, _, isQuoted) {
    const thing = slot("thing");
    const isMine = !hasHan(thing) || thing.startsWith("我") || namesThing(thing);
    return isMine ? noted(factFrom(thing, slot("value"), isQuoted("value") ? "quoted" : "stated")) : undefined;
  },
  pick: (slot) => ({ kind: "pick", text: slot("thing") }),
  aside: () => ({ kind: "aside" }),
};

export interface Rule {
  readonly pattern: string;
  readonly make: Make;
}

export const rules: readonly Rule[] = [...grammar.matchAll(/^(\w+): (.+)$/gm)].flatMap(
  ([, name = "", pattern = ""]) => {
    const make = meanings[name];
    return make === undefined ? [] : [{ pattern, make }];
  },
);

/** The items of a list; `undefined` if a sentence follows them. */
function itemsOf(text: string, between: RegExp): readonly string[] | undefined {
  const items = text.split(between).map((item) => withoutEnd(item.replace(/^\s*(?:[-*•]|\d+[.)])\s/, "")));
  const given = items.filter((item) => item !== "");
  return given.length === 0 || given.some((item) => /[.?!:]\s|[。？！\n[\]]|^(?:then|and) |然后/.test(item))
    ? undefined
    : given;
}
