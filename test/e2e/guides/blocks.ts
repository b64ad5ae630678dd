/** The fenced blocks of documents, and how they become one script. */

export type Block = { document: string; language: string; code: string };

export function blocksOf(document: string, text: string): Block[] {
  return [...text.matchAll(/^( *)```([\w-]*)\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', code = '']) => ({
      document,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** Shell and TypeScript. Other blocks are answers, files of settings and pictures. */
export const runnable = ({ language }: Block): boolean => language === 'sh' || language === 'ts';

/** The file that a program is stored in, which its first line names. */
const fileOf = (code: string): string | undefined => /^\/\/ ([\w-]+\.(?:test\.)?ts)\n/.exec(code)?.[1];

/** One script of bash: a command stands as it is, a named program is stored, and one without a name is run. */
export function scriptOf(blocks: readonly Block[]): string {
  const parts = blocks.map(({ language, code }, i) => {
    if (language === 'sh') return code;
    const file = fileOf(code);
    const stored = `cat > '${file ?? `step-${i}.ts`}' <<'END_OF_FILE'\n${code}END_OF_FILE\n`;
    return file === undefined ? `${stored}node step-${i}.ts\n` : stored;
  });
  return `set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
# An answer of the API that is an error ends the script.
curl() { command curl --fail-with-body "$@"; }
set -x
${parts.join('\n')}`;
}

export type NotRun = { document: string; begins: string; reason: string };

const server = 'needs a server with Docker and a domain; test/containers runs the same commands';
const live = 'docs/guides/going-live.md';

/** Blocks that cannot run here, by their first characters. */
export const notRun: readonly NotRun[] = [
  { document: live, begins: 'sudo apt-get', reason: 'installs packages on a new server' },
  { document: live, begins: 'docker build', reason: server },
  { document: live, begins: 'docker compose up', reason: server },
  { document: live, begins: 'curl -s https://pay.shop.example', reason: 'needs a domain with a certificate' },
  { document: live, begins: 'docker compose run --rm -T', reason: server },
  {
    document: 'docs/guides/accept-a-payment.md',
    begins: 'export QUITTANCE_URL',
    reason: 'has a placeholder in place of a token; the suite sets both variables',
  },
  {
    document: 'docs/guides/testing.md',
    begins: 'npm start',
    reason: 'runs already: this suite starts it',
  },
  {
    document: 'docs/guides/testing.md',
    begins: '// shop.test.ts',
    reason: 'packed.test.ts runs it where the packages are installed',
  },
  {
    document: 'docs/guides/testing.md',
    begins: 'npm pkg set type=module',
    reason: 'packed.test.ts installs the packages and runs the program',
  },
  {
    document: 'README.md',
    begins: 'npm start',
    reason: 'starts a second sandbox, and all tests within a test',
  },
];
