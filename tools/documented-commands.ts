import type { commandLine } from 'quittance/command-line';

/** The commands that a document tells an operator to type, and what is wrong with one. */

type Command = ReturnType<typeof commandLine>;

const OPERATOR = 'npx quittance ';
const COMPOSE = 'docker compose ';

/** Each command in the fenced blocks and the inline code of a text, without the comment behind it. */
export function commandsIn(text: string): string[] {
  const fenced = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].flatMap(([, code = '']) =>
    code
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) => line.trim()),
  );
  const inline = [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, code = '']) => code,
  );
  return [...fenced, ...inline]
    .map((line) => line.replace(/\s+#\s.*$/, ''))
    .filter((line) => [OPERATOR, COMPOSE].some((begin) => line.startsWith(begin)));
}

/** The words of a command, as a shell takes them apart. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );

/** What is wrong with a command; undefined when it could be typed as it stands. */
export function problemOf(line: string, program: Command, services: readonly string[]): string | undefined {
  return line.startsWith(OPERATOR)
    ? problemOfQuittance(wordsOf(line.slice(OPERATOR.length)), program)
    : problemOfCompose(wordsOf(line.slice(COMPOSE.length)), services);
}

/** The command that these words begin with, and the words behind its name. */
export function leafOf(words: readonly string[], program: Command): { leaf: Command; rest: string[] } {
  let leaf = program;
  for (const [at, word] of words.entries()) {
    const next = leaf.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) return { leaf, rest: words.slice(at) };
    leaf = next;
  }
  return { leaf, rest: [] };
}

function problemOfQuittance(words: readonly string[], program: Command): string | undefined {
  const { leaf, rest } = leafOf(words, program);
  if (leaf.commands.length > 0) return `${words.join(' ')}: there is no such command`;
  const given = [];
  const named = new Set<string>();
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (!word.startsWith('--')) {
      given.push(word);
      continue;
    }
    const option = leaf.options.find(({ long }) => long === word);
    if (option === undefined) return `${leaf.name()} has no option ${word}`;
    named.add(word);
    if (option.required) at += 1;
  }
  const missing = leaf.options.find(({ mandatory, long }) => mandatory && !named.has(long ?? ''));
  if (missing !== undefined) return `${leaf.name()} needs ${missing.long}`;
  const wanted = leaf.registeredArguments;
  if (given.length > wanted.length) return `${leaf.name()} does not take ${given.at(-1)}`;
  const lacking = wanted.find(({ required }, at) => required && at >= given.length);
  return lacking === undefined ? undefined : `${leaf.name()} needs ${lacking.name()}`;
}

/** The subcommands of Compose that documents use, with their options: those with a value end in `=`. */
const composeOptions: Readonly<Record<string, readonly string[]>> = {
  ps: ['--all'],
  logs: ['--since=', '--tail=', '--follow'],
  up: ['--detach', '--scale=', '--build', '--remove-orphans'],
  exec: ['--index='],
  run: ['--rm'],
  restart: [],
  stop: [],
  stats: ['--no-stream'],
};

function problemOfCompose([subcommand = '', ...rest]: readonly string[], services: readonly string[]) {
  const options = composeOptions[subcommand];
  if (options === undefined) return `docker compose ${subcommand} is not known here`;
  const named: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (!word.startsWith('--')) named.push(word);
    else if (options.includes(`${word}=`)) {
      at += 1;
      if (word === '--scale') named.push(rest[at]?.split('=')[0] ?? '');
    } else if (!options.includes(word)) return `docker compose ${subcommand} has no ${word} here`;
  }
  // Behind the first service of these comes what is run in its container.
  const ofServices = ['exec', 'run'].includes(subcommand) ? named.slice(0, 1) : named;
  const strange = ofServices.find((name) => !services.includes(name));
  return strange === undefined ? undefined : `docker-compose.yml has no service ${strange}`;
}
