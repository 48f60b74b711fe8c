import { randomFrom } from "../fakes/seeded-random.ts";

const list = (text: string): readonly string[] => text.trim().split(/\s*\n\s*/);

/** Builtins that set a variable, such as one that locates programs or that programs obey. */
const assigning = list(`
  printf x%n NAME
  printf -v NAME 1
  printf "$fmt" NAME
  printf '%s%n' a NAME
  read -r NAME <<< 1
  read NAME < README.md
  mapfile -t NAME <<< 1
  export NAME=1
  NAME=1
  declare -n ref=NAME; ref=1
  getopts a NAME -a
  for NAME in 1; do :; done
  wait -p NAME
  : \${NAME:=1}
  printf -v other 1; NAME=$other
  let NAME=1
  exec {NAME}< README.md
`);
const variables = ["PATH", "IFS", "HOME", "CDPATH", "BASH_ENV", "x", "OTHER", "RUSTC", "MY_TOOL"];

const prefixes = list(`
  RUSTC=./evil
  RUSTDOC=./evil
  GOCACHEPROG=./evil
  MY_TOOL=./evil
  PKG_CONFIG=./evil
  env RUSTC=./evil
  env -u HOME
  FOO=1
  CI=1
  NODE_ENV=test
  PATH=1:$PATH
  RUSTC=./evil timeout 5
`);

const programs = list(`
  ls
  cat README.md
  git status --short
  cargo build
  go build ./...
  make
  npm test
  env
  printenv
  cat notes.txt
  git log --oneline
  cd .. && cat .ssh/id_rsa
  cat ../.ssh/id_rsa
  cat up/.bash_history
  grep -r CANARY ..
  grep -rn CANARY .
  cat ~/.config/gh/hosts.yml
  find .. -name id_rsa
  ls x*
  x=$HOME; cat $x/.ssh/id_rsa
  cat /proc/$PPID/environ
  git -C .. status --short
`);

const writing = list(`
  wget http://127.0.0.1/a.tgz
  wget http://127.0.0.1/linked.tgz
  wget http://127.0.0.1/.bashrc
  wget -c http://127.0.0.1/linked.tgz
  wget -P .. http://127.0.0.1/.zshenv
  wget -P ~ http://127.0.0.1/a.tgz
  wget -O ../.bashrc http://127.0.0.1/a
  wget -O a.tgz http://127.0.0.1/a
  cd .. && wget http://127.0.0.1/a.tgz
  tar -cf a.tar src && tar -xf a.tar
  tar -cf build/a.tar src
  echo x > new.txt
  echo x > linked.tgz
  echo x > up/other/file.txt
  echo x > ../.bashrc
  echo x >> .git/config
  echo x | tee .git/hooks/pre-commit
  touch new.txt
  mkdir -p a/b
  cp README.md linked.tgz
  cp evil .git/hooks/post-checkout
  mv build/out.js src/out.js
  sed -i s/a/b/ src/a.ts
  git config core.hooksPath hooks
  git checkout topic
  git switch topic
  git checkout README.md
  chmod -R +x .
  sort -o ../.bashrc README.md
  ln -s ~/.ssh keys && cat keys/id_rsa
`);

const deleting = list(`
  rm src/a.ts
  rm -rf src
  rm -rf build
  rm notes.txt
  rm -rf .
  rm -rf ..
  rm -rf ~
  rm -rf "$PWD"
  rm -rf .git
  rm -rf up
  rm -rf up/
  rm -rf up/.ssh
  rm -rf build/../../.ssh
  rm -rf *
  rm -rf .*
  find . -delete
  find .. -name id_rsa -delete
  find . -name a.ts -delete
  find build -type f -exec rm {} +
  mv .git old
  mv ../.ssh build && rm -rf build
  mv . ../gone
  cp -r ~/.ssh build && cat build/id_rsa
  git rm src/a.ts
  git init -q .. && git -C .. add -A && git -C .. diff --cached -- :/
  git -C .. add -A
  python3 -m venv --clear src
  python3 -m venv --clear ..
  ln -s src dist && rm -rf dist/
  ln -s ../other dist; rm -rf dist/
  x=$HOME; rm -rf $x
  chmod 000 ~
  truncate -s 0 .git/HEAD
  install -m 755 evil ~/.local/bin/ls
`);

/** Commands that print names, and uses of those names. */
const listings = list(`
  ls
  cd .git && ls
  cd .. && ls
  cd ../other && ls
  cd ../.ssh && ls
  find . -type f
  find src -name '*.ts'
  find .git -type f
  find .. -name '*.txt'
  find ../other -type f
  git ls-files
  git ls-files '*.ts'
  grep -rl CANARY ..
  grep -rl a src
`);
const users = list(`
  LIST | xargs cat
  LIST | xargs sed -i 1p
  LIST | xargs touch
  LIST | head -3 | xargs grep -h CANARY
  cat $(LIST)
  sed -i 1p $(LIST)
  for f in $(LIST); do cat "$f"; done
  for f in $(LIST); do tee $f < README.md; done
  LIST | xargs -I{} cp README.md {}
`);
const moving = list(`
  mv src lib
  mv src/* build
  cp src/* build
  cp -r src lib
  ln -s src lib
  mv src ../other
  mv src ~/.config
  mv src/* ~/.local
  cp src/* ..
  ln -s $PWD/src ~/.local
  ln -s $PWD/src ../other/src
  git clone . ../other/copy
  git worktree add ../.config
`);

const around = list(`
  CMD
  CMD
  CMD
  bash -c 'CMD'
  ( CMD )
  { CMD; }
  if true; then CMD; fi
  for i in 1 2; do CMD; done
  cd src; cd ..; CMD
  cd up/project && CMD
  cd src/.. && CMD
  true && CMD
  CMD 2>/dev/null
  echo "$(CMD)"
  CMD | cat
  timeout 5 bash -c 'CMD'
`);

/** A command with additions an attacker would make, to be run in the real world of `real-world.ts`. */
export function realCommand(seed: number): string {
  const random = randomFrom(seed + 4_321);
  const simple = (): string => {
    const kind = random.below(7);
    if (kind === 5) return random.pick(users).replace("LIST", () => random.pick(listings));
    if (kind === 6) return random.pick(moving);
    if (kind === 0) return `${random.pick(prefixes)} ${random.pick(programs.slice(0, 11))}`;
    if (kind === 1)
      return `${random.pick(assigning).replaceAll("NAME", random.pick(variables))}; ${random.pick(programs)}`;
    if (kind === 2) return random.pick(writing);
    if (kind === 3) return random.pick(deleting);
    return random.pick(programs);
  };
  const parts = Array.from({ length: 1 + random.below(3) }, () => {
    const shell = random.pick(around);
    const command = simple();
    return shell.replace("CMD", () => (shell.includes("'CMD'") ? command.replaceAll("'", `'\\''`) : command));
  });
  return parts.join(random.pick(["; ", " && ", "\n"]));
}
