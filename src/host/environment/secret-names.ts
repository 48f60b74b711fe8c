/** Letters that mark a secret anywhere in a name, even inside a longer word. */
const secretLetters = /API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SECRET|SCRT|PASSWO?R?D|PASSPHRASE|PASSCODE|CREDENTIAL|BEARER/;

/** A cheap first check that every secret's name passes. It settles most names. */
const hint =
  /KEY|TOK|TKN|SCRT|SEED|SALT|PEPPER|PASS|PW|PSW|SECRET|CRED|PAT|JW|COOKIE|AUTH|HEADERS|MNEMONIC|OTP|HMAC|PEM|PFX|SAS|HOOK|PHRASE|SESSION|ACCOUNT|UR[LI]|DSN|CONN|BEARER|BUNDLE_|PIN|CSRF|SIGNATURE|KUBE|SK|UNSEAL|PRIVATE/i;

/** Words that mark a secret anywhere in a name. */
const secretWords = new Set(
  `TOKEN TOKENS TOK TOKS TKN TKNS KEY KEYS PASS PW PWD PSW CRED CREDS PAT PATS JWT JWTS JWK JWKS COOKIE COOKIES AUTHORIZATION MNEMONIC OTP TOTP HMAC
  PEM PFX SAS SASTOKEN WEBHOOK WEBHOOKS PRIVKEY SSHKEY SIGNKEY AUTHKEY MASTERKEY DEPLOYKEY PASSKEY ACCOUNTKEY SHAREDKEY
  ENCKEY OAUTH CSRF KEYSTORE APPKEY SK PSK UNSEAL`.split(/\s+/),
);

/** Words that mark a secret at the end of a name. */
const secretEndings = new Set(["PRIVATE", "AUTH", "HEADERS", "PIN", "SIGNATURE", "SALT", "SALTS", "PEPPER"]);

/** Phrases that mark a secret. */
const secretPhrases = (
  "AUTH CONFIG, AUTH HEADER, SEED PHRASE, SIGNING SEED, RECOVERY PHRASE, SERVICE ACCOUNT JSON, DEPLOY HOOK, HOOK URL, " +
  "BUILD HOOK, BW SESSION, OP SESSION, KUBE CONFIG DATA, KUBECONFIG DATA"
).split(", ");

/** Words that end in PASS and are harmless. */
const harmlessPass = /^(ASK|BY|COM|ENCOM|HIGH|LOW|BAND|MULTI|OVER|UNDER|TRES|SUR)PASS$/;

/** Words that end in KEY and are harmless. */
const harmlessKey = /(MON|DON|TUR|HOT|JOC|HOC|WHIS|LAC)KEY$/;

/** Words that end in PWD and name a folder. */
const folderPwd = /^(OLD|LAST|ORIG|ORIGINAL|START|INIT|SAVED?|PREV|CUR|CURRENT)PWD$/;

const servers = new Set(
  `DATABASE DB REDIS REDISCLOUD REDISTOGO OPENREDIS VALKEY KEYDB UPSTASH MONGO MONGODB MONGOLAB POSTGRES POSTGRESQL PG PGSQL
  MYSQL MARIADB CLEARDB JAWSDB MSSQL SQLSERVER ORACLE SNOWFLAKE CLICKHOUSE CASSANDRA COCKROACH CRDB NEON PLANETSCALE TURSO
  LIBSQL NEO4J GRAPHENEDB COUCHDB COUCHBASE INFLUX INFLUXDB ELASTIC ELASTICSEARCH OPENSEARCH BONSAI SEARCHBOX SOLR MEMCACHED
  MEMCACHIER AMQP RABBITMQ CLOUDAMQP KAFKA NATS BROKER CELERY SMTP MAIL MAILER EMAIL LDAP JDBC SQLALCHEMY CACHE SUPABASE
  SENTRY`.split(/\s+/),
);

const paths = new Set(["DIR", "DIRS", "PATH", "HOME", "FOLDER", "SOCK", "SOCKET"]);
const addresses = new Set("URL URI ENDPOINT HOST HOSTS ADDR ADDRESS SERVER PORT DOMAIN ISSUER".split(" "));
const measures = new Set(
  `LIMIT LIMITS COUNT MAX MIN TTL TIMEOUT LENGTH LEN SIZE AGE EXPIRY EXPIRES EXPIRATION LIFETIME DAYS HOURS MINUTES SECONDS MS
  ENABLED DISABLED REQUIRED POLICY TYPE ALGORITHM ALG MODE FORMAT PROVIDER MANAGER BACKEND NAME ROUNDS BITS LAYOUT
  PARALLELISM`.split(/\s+/),
);
/** `MAX_TOKENS` counts them. */
const counting = new Set("MAX MIN LIMIT BUDGET INPUT OUTPUT CONTEXT NUM COUNT TOTAL THINKING USAGE PER".split(" "));

/** `npm_config__authToken2` is NPM CONFIG AUTH TOKEN. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .map((word) => (word === "NEO4J" ? word : word.replace(/\d+$/, "")))
    .filter((word) => word !== "");
}

/** `http://localhost:8080/path`, `host:5432`, `sqlite:db.sqlite3`: no user, no parameters, nothing random in the path. */
function isPlainAddress(value: string): boolean {
  if (!/^(?:[a-z][a-z0-9+.-]*:)*(?:\/\/)?[\w.,:[\]/~*-]*$/i.test(value)) return false;
  return (
    /^(?:[a-z][a-z0-9+.-]*:|localhost\b|[\w.-]+:\d+|[\w-]+\.[\w.-]+|\d+$|$)/i.test(value) && !/[\w-]{24,}/.test(value)
  );
}

/** Whether the last word and the value show that the variable is only about a secret: `TOKEN_TTL=3600`. */
function isAboutSecret(words: readonly string[], value: string): boolean {
  const last = words.at(-1) ?? "";
  if (measures.has(last)) return /^(?:\d{1,9}[a-z]{0,2}|[a-z _-]{0,30}|[HREP]S\d{3})$/i.test(value);
  if (paths.has(last)) return /^(?:[~.]?\/|~$|\.{1,2}$|$)/.test(value);
  return addresses.has(last) && isPlainAddress(value);
}

/** `DATABASE_URL`, `SENTRY_DSN`, `AZURE_STORAGE_CONNECTION_STRING`: addresses that usually contain a password. */
function namesServer(words: readonly string[]): boolean {
  if (words.some((word) => /^(DSN|CONNSTR|CONNECTIONSTRINGS?)$/.test(word))) return true;
  if (/\bCONN(ECTION)? (STRINGS?|STR|URL|URI)\b/.test(words.join(" "))) return true;
  const isAddress = words.some((word) => /^(URLS?|URI|DSN|CONN|CONNECTION)$/.test(word));
  return (
    (isAddress && words.some((word) => servers.has(word))) ||
    words.some((word) => /^\w+(DB|SQL|REDIS)_?UR[LI]$/.test(word))
  );
}

function isSecretWord(word: string): boolean {
  if (secretWords.has(word) || /T(OKE|K)N$/.test(word)) return true;
  if (word.endsWith("KEY")) return !harmlessKey.test(word);
  if (/(PWD|PW|PSW|PSWD|TOK)$/.test(word)) return !folderPwd.test(word) && word !== "TIKTOK";
  return /PASS(FILE)?$/.test(word) && !harmlessPass.test(word);
}

/** Whether a variable's name marks its value as a credential. */
export function isSecretName(name: string, value: string): boolean {
  if (!hint.test(name)) return false;
  // They only work together: see `gitSettings` in command-environment.ts.
  if (name === "PWD" || name === "OLDPWD" || /^GIT_CONFIG_KEY_\d+$/.test(name)) return false;
  // Bundler keeps the login of a host in a variable with its name: `BUNDLE_GEMS__EXAMPLE__COM`.
  if (/^BUNDLE_\w+__/.test(name)) return true;
  const words = wordsOf(name);
  if (namesServer(words)) return !isPlainAddress(value);
  const phrase = ` ${words.join(" ")} `;
  if (secretPhrases.some((known) => phrase.includes(` ${known} `))) return true;
  if (words.some((word) => word === "WEBHOOK" || word === "WEBHOOKS")) {
    return !measures.has(words.at(-1) ?? "") && !(words.at(-1) === "PORT" && /^\d*$/.test(value));
  }
  const isSecret =
    secretLetters.test(name.toUpperCase()) ||
    secretEndings.has(words.at(-1) ?? "") ||
    words.some((word) => isSecretWord(word) && !(word === "TOKENS" && words.some((other) => counting.has(other))));
  return isSecret && !isAboutSecret(words, value);
}
