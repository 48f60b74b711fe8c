/** The kind of a recognised secret. Never the value itself: `tinman doctor` prints these. */
export type SecretKind =
  | "URL with credentials"
  | "user and password"
  | "webhook URL"
  | "JSON web token"
  | "API key"
  | "private key"
  | "authorization header"
  | "password in text"
  | "encoded secret";

/** Prefixes of providers' keys, with the required rest. */
const keyShapes = [
  "sk-(?=[\\w-]*\\d)[\\w-]{16,}",
  "(?:sk|rk|pk)_(?:live|test)_\\w{8,}|whsec_\\w{16,}|sk_[0-9a-f]{32,}",
  "gh[pousr]_\\w{20,}|github_pat_\\w{20,}",
  "gl(?:pat|dt|rt|ptt|cbt|soat|ffct|imt|ft|agent|oas)-[\\w-]{16,}",
  "xox[a-z]-[\\w-]{10,}|xapp-[\\w-]{10,}",
  "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])",
  "AIza[\\w-]{30,}|ya29\\.[\\w-]{20,}|GOCSPX-[\\w-]{20,}|1//0[\\w-]{30,}",
  "npm_[A-Za-z0-9]{30,}|pypi-[\\w-]{16,}|rubygems_[0-9a-f]{32,}|oy2[a-z0-9]{43}|CLOJARS_[0-9a-f]{32,}",
  "hf_\\w{20,}|gsk_\\w{20,}|xai-\\w{20,}|r8_\\w{20,}|pplx-\\w{20,}|nvapi-[\\w-]{20,}|tgp_v1_[\\w-]{20,}|csk-\\w{20,}",
  "SG\\.[\\w-]{16,}\\.[\\w-]{16,}|key-[0-9a-f]{32}|re_(?=\\w*\\d)\\w{20,}",
  "do[opr]_v1_\\w{20,}|shp(?:at|ca|pa|ss)_\\w{16,}|sq0[a-z]{3}-[\\w-]{20,}",
  "hv[sbr]\\.[\\w-]{20,}|\\w{14}\\.atlasv1\\.[\\w-]{20,}|pul-[0-9a-f]{32,}|dp\\.(?:pt|st|ct|sa)\\.[\\w.-]{20,}",
  "lin_api_\\w{20,}|ntn_\\w{20,}|secret_[A-Za-z0-9]{30,}|fig[dou]_[\\w-]{20,}|PMAK-[\\w-]{20,}|NRAK-\\w{20,}",
  "nfp_\\w{20,}|fm[12]_[\\w+/=-]{20,}|rnd_\\w{20,}|dckr_(?:pat|oat)_[\\w-]{16,}|dapi[0-9a-f]{32}|sbp_\\w{20,}|sb_secret_\\w{16,}",
  "xkeysib-[\\w-]{20,}|HRKU-[\\w-]{20,}|sk\\.eyJ[\\w.-]{16,}|gl(?:sa|c)_[\\w+/=-]{20,}|ph[cx]_\\w{20,}|pat[A-Za-z0-9]{14}\\.[0-9a-f]{32,}|sntry[su]_[\\w+/=-]{20,}|bkua_\\w{20,}|CCIPAT_\\w{16,}",
  "AT(?:ATT|CTT|BB)3?[\\w=-]{24,}|ops_eyJ[\\w-]{8,}|pscale_(?:pw|tkn|oauth)_[\\w.-]{8,}|AGE-SECRET-KEY-1\\w{20,}|tskey-[\\w-]{16,}|SK[0-9a-f]{32}(?![0-9a-f])",
  "LTAI\\w{16,}|\\d{8,10}:AA[\\w-]{33}|[MNO][\\w-]{23,25}\\.[\\w-]{6}\\.[\\w-]{27,}|rzp_(?:live|test)_\\w{14,}|xprv\\w{100,}",
  "sq[apu]_[0-9a-f]{40}|lsv2_(?:pt|sk)_\\w{30,}|napi_\\w{40,}|duffel_(?:live|test)_[\\w-]{30,}|shippo_(?:live|test)_[0-9a-f]{30,}|dd[op]_[A-Za-z0-9]{30,}",
  "fio-u-[\\w-]{40,}|FLWSECK(?:_TEST)?-\\w{20,}|pnu_\\w{30,}|rdme_\\w{40,}|zpka_\\w{30,}|tfp_[\\w-]{40,}|EAACEdEose0cBA\\w{20,}|snyk_uat\\.[\\w.-]{8,}",
  "vcp_\\w{20,}|AKID[A-Za-z0-9]{32}(?!\\w)|access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27}|ico-[A-Za-z0-9]{32}(?!\\w)|API-[A-Z0-9]{26}(?!\\w)",
  "cmVmdGtuOj\\w{20,}|1/\\d{13,}:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:fx(?!\\w)|pat\\.[\\w-]{20,}\\.[0-9a-f]{24}\\.\\w{16,}|y0_[\\w-]{40,}",
  "AKC[A-Za-z0-9]{60,}|aio_[A-Za-z0-9]{28}(?!\\w)|sl\\.[\\w-]{100,}|cio[A-Za-z0-9]{32}(?!\\w)",
  "vercel_blob_rw_\\w{16,}|CFPAT-[\\w-]{20,}|EZ[AT]K[0-9a-f]{32,}\\w*|[0-9a-f]{32}-us\\d{1,2}(?!\\d)",
];

/** Hosts and paths where the rest of the path is the secret. */
const hooks = [
  "hooks\\.slack\\.com/(?:services|workflows|triggers)/",
  "(?:\\w+\\.)?discord(?:app)?\\.com/api/(?:v\\d+/)?webhooks/",
  "[\\w.-]+\\.webhook\\.office\\.com/|outlook\\.office(?:365)?\\.com/webhook/",
  "hooks\\.zapier\\.com/|maker\\.ifttt\\.com/|hook\\.[\\w.]*make\\.com/|[\\w.-]+\\.logic\\.azure\\.com",
  "open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/|qyapi\\.weixin\\.qq\\.com/cgi-bin/webhook|oapi\\.dingtalk\\.com/robot/",
  "api\\.vercel\\.com/v1/integrations/deploy/|api\\.render\\.com/deploy/|api\\.netlify\\.com/build_hooks/",
  "api\\.telegram\\.org/(?:file/)?bot\\d|events\\.pagerduty\\.com/integration/|chat\\.googleapis\\.com/v1/spaces/",
  "[\\w.:-]+/(?:[\\w/-]*/)?(?:web)?hooks?/(?:[\\w-]+/)*(?=[\\w-]*\\d)[\\w-]{16,}",
];

const secretSettings =
  "password|passwd|pwd|passphrase|passcode|client_?secret|secret|api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|" +
  "shared[_-]?access[_-]?(?:key|signature)|secret[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|" +
  "id[_-]?token|token|credentials?|sig|signature|_auth|client-key-data";
/** A reference (`$TOKEN`, `%s`, `<token>`) or a switch is not a secret. */
const noSecret = "(?![$%<*{]|(?:true|false|yes|no|none|null|on|off|required|disabled|prompt)\\b)";

const noNumberOrPath = "(?!\\d{1,6}(?:[\\s\"'&;,}\\\\]|$)|/|~)";

interface Shape {
  readonly kind: SecretKind;
  /** A cheap first check that every match of `pattern` passes, because large patterns take milliseconds to compile. */
  readonly hint: RegExp;
  readonly pattern: () => RegExp;
}

/** Compiles patterns on first use: few values need one. */
function once(source: () => string, flags = ""): () => RegExp {
  let pattern: RegExp | undefined;
  return () => {
    pattern ??= new RegExp(source(), flags);
    return pattern;
  };
}

const textPatterns = (): readonly string[] => [
  `(?<![a-z])(?:${secretSettings})\\\\?["']?\\s*[=:]\\s*\\\\?["']?${noSecret}${noNumberOrPath}[^\\s"'&;,\\\\]{3,}`,
  `(?:password|passwd|passphrase|(?<![a-z])pwd)\\\\?["']?\\s*[=:]\\s*\\\\?["']?${noSecret}[^\\s"'&;,\\\\]{3,}`,
  // `pass` alone is also an everyday word, so it must be written as a setting.
  `["'](?:\\w*[_-]|db|user|root|admin|smtp|mail)?(?:pass|pw|psw)\\\\?["']\\s*[=:]\\s*\\\\?["']${noSecret}[^\\s"'\\\\]{3,}`,
  `(?<![a-z])(?:pass|pw|psw)=${noSecret}${noNumberOrPath}[^\\s"'&;,\\\\]{3,}`,
  `(?:^|\\s)--?(?:password|passwd|passphrase|secret|token|api-?key)[ =]${noSecret}[^\\s-]\\S{2,}`,
  `\\blogin\\s+\\S+\\s+password\\s+\\S+|"auths?"\\s*:\\s*["{]|x-api-key\\s*[=:]`,
  `(?<![\\w-])(?:set-)?cookie\\s*:\\s*[\\w.-]+=${noSecret}[^\\s;]{3,}`,
  `authorization\\s*[=:]\\s*(?!(?:bearer|basic|token)\\b)${noSecret}\\S{4}`,
];

const shapes: readonly Shape[] = [
  {
    kind: "private key",
    hint: /---BEGIN|PuTTY|LS0t/,
    pattern: once(() => "-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|LS0tLS1CRUdJTi"),
  },
  { kind: "JSON web token", hint: /eyJ/, pattern: once(() => "(?<!\\w)eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*") },
  {
    kind: "API key",
    hint: /[\w.-]{15,}|(?:fm[12]|glsa|glc|sntry[su])_/,
    pattern: once(() => `(?<![A-Za-z0-9])(?:${keyShapes.join("|")})`),
  },
  { kind: "webhook URL", hint: /:\/\//, pattern: once(() => `://(?:${hooks.join("|")})`, "i") },
  {
    kind: "authorization header",
    hint: /bearer|basic|token/i,
    pattern: once(
      () =>
        "\\bbearer\\s+[\\w+/.~=-]{8,}|\\b(?:basic|token)\\s+(?=\\S*[\\d=])[\\w+/.~=-]{12,}|authorization\\s*[=:]\\s*(?:bearer|basic|token)\\s+[^\\s$%<*{]\\S{3,}",
      "i",
    ),
  },
  {
    kind: "password in text",
    hint: /pass|pw|psw|key|secret|token|cred|sig|auth|cookie/i,
    pattern: once(() => textPatterns().join("|"), "i"),
  },
  {
    // `curl -u user:password`; not `docker run -u 1000:1000`, `-u node:node` or an address.
    kind: "password in text",
    hint: /-(?:[uU]|-(?:proxy-)?user).*:/,
    pattern: once(
      () =>
        `(?:^|\\s)(?:-[uU]|--(?:proxy-)?user)[ =]?["']?([^\\s:"'$-][^\\s:"'$]*):(?!\\1(?:\\W|$)|\\d+(?:\\D|$))(?![/$%<*{])\\S{2,}`,
    ),
  },
];

/** `user:password@`, or a user alone that is probably a token: with `https`, unless it looks like a name. */
function hasUserInfo(value: string): boolean {
  for (const [, scheme = "", rest = ""] of value.matchAll(/([a-z][a-z0-9+.-]*):\/\/([^\s"'<>]*)/gi)) {
    const isWeb = /^(?:\w+\+)?(?:https?|wss?|ftps?|socks\w*)$/i.test(scheme);
    // A password may contain an unencoded slash. After a web server's host, `@` belongs to the path.
    const authority = isWeb || !rest.includes("@") ? (/^[^/?#\\]*/.exec(rest)?.[0] ?? "") : rest;
    const user = authority.slice(0, Math.max(0, authority.lastIndexOf("@")));
    if (user === "") continue;
    if (isWeb || user.includes(":") || user.length > 32 || /^(?=.*\d)[^.]{12,}$/.test(user)) return true;
  }
  // Go's MySQL driver uses `user:password@tcp(host:3306)/name`.
  if (/[^\s:@/]+:\S+@\w*\([^\s)]+\)\//.test(value)) return true;
  // Proxies may have no scheme, and Oracle uses `thin:user/password@host`.
  return /^(?:\/\/)?[^\s:@/]+:[^\s@/]+@[\w.-]+(?::\d+)?(?:\/\S*)?$|\b(?:thin|oci):[^\s/@]+\/[^\s@]+@/.test(value);
}

/** Base64 of a secret: `user:password`, a key file, a service account. */
function encodedText(value: string): string | undefined {
  const text = value.trim();
  if (text.length < 24 || !/^[A-Za-z0-9+/\n_-]+=*$/.test(text)) return undefined;
  const decoded = Buffer.from(text, "base64").toString("utf8");
  return /^[\t\r\n\x20-\x7e]{12,}$/.test(decoded) ? decoded : undefined;
}

function plainKindOf(value: string): SecretKind | undefined {
  if (value.includes("@") && hasUserInfo(value)) return "URL with credentials";
  return shapes.find(({ hint, pattern }) => hint.test(value) && pattern().test(value))?.kind;
}

/** The kind of secret that a value is or contains, if recognised. */
export function secretKindOf(value: string): SecretKind | undefined {
  if (value.length < 8) return undefined;
  const kind = plainKindOf(value);
  if (kind !== undefined) return kind;
  const decoded = encodedText(value);
  const isSecret = decoded !== undefined && (plainKindOf(decoded) !== undefined || /^[\w.@-]+:\S{4,}$/.test(decoded));
  return isSecret ? "encoded secret" : undefined;
}

/** Names of variables whose value is a user with a password, if it has that form. */
const namesLogin = /(?:^|_)(?:BASIC|LOGIN|USERPASS|HTPASSWD|USERS?|ADMIN|LOGON|PROXY)(?:_|\d*$)/i;
const namesImage = /IMAGE|TAG|VERSION|CONTAINER|BASE|COORDINATES?|ARTIFACT|DIGEST|CHECKSUM|HASH|COMMIT|REF|SESSION_ID/i;
const account = /^(?:admin|administrator|root|user|ci|deploy|deployer|guest|bot|test|tester|svc|service|dev)$/i;
/** Schemes and algorithms in front of a colon. */
const noUser =
  /^(?:npm|github|gitlab|file|git|workspace|link|patch|portal|sha\d*|md5|urn|arn|did|mailto|tel|data|jdbc|sqlite|unix|tcp|udp|https?|class|level|localhost)$/i;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/**
 * Whether a value is `user:password`. Image tags, addresses, versions and ids look similar, so without a telling name the
 * password must have a sign that these never have, or mix letters and digits as they rarely do.
 */
export function isUserAndPassword(name: string, value: string): boolean {
  const [, user = "", password = ""] = /^([A-Za-z][\w.@+-]*):([^\s:/,;=|"'`()<>[\]{}]+)$/.exec(value) ?? [];
  const hasLetter = /[a-z]/i.test(password);
  if (password.length < 4 || !hasLetter || noUser.test(user) || user === password || uuid.test(password)) return false;
  if (namesImage.test(name)) return false;
  if (namesLogin.test(name)) return true;
  if (/[!#$%^&]/.test(password)) return password.length >= 6;
  if (!/\d/.test(password)) return false;
  if (account.test(user) && /^[a-z]\w{5,}$/i.test(password) && !/^v\d/i.test(password)) return true;
  return /^\w+$/.test(password) && /[a-z]/.test(password) && (/[A-Z]/.test(password) || password.length >= 16)
    ? password.length >= 8 && !/^[0-9a-f]+$/.test(password)
    : false;
}
