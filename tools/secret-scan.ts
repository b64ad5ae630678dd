import { execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { root, textOf, trackedFiles } from './tracked-files.ts';

/**
 * Finds what belongs to one machine and not to the project: paths of somebody's disk, and hosts of a package
 * registry other than the public one, which a lock file picks up without a word.
 */
export type Leak = { line: number; found: string; advice: string };

const publicHosts = /^(?:registry\.npmjs\.org|(?:www\.|docs\.)?npmjs\.com|pnpm\.io|[\w.-]*docker\.io)$/;
const patterns: { pattern: RegExp; advice: string; allowed?: (found: string) => boolean }[] = [
  {
    // Not preceded by what makes it the middle of a URL, a relative path or a template.
    pattern: /(?<![\w.$}/:~-])\/(?:home|root|tmp|Users|work|workspace)\/[\w.-]+/g,
    advice: 'a path of one machine; use import.meta.dirname, os.tmpdir() or a setting',
    // The official Node images have this user.
    allowed: (found) => found === '/home/node',
  },
  { pattern: /\b[A-Z]:\\+Users\\+[\w.-]+/g, advice: 'a path of one machine; use a relative path' },
  {
    pattern: /(?<=https?:\/\/)[\w.-]*(?:npm|registry|nexus|artifactory|jfrog|verdaccio)[\w.-]*/g,
    advice: 'a package registry of one machine; only the public one may be named',
    allowed: (found) => publicHosts.test(found),
  },
  {
    pattern: /\btarball: https?:.*/g,
    advice: 'the lock file names a host; install again from the public registry',
  },
];

/** `own` are texts that give this machine away: its home folder, where the project lies, its registry's host. */
export function secretsIn(text: string, own: readonly string[] = []): Leak[] {
  const found: Leak[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    for (const { pattern, advice, allowed } of patterns) {
      for (const [match] of line.matchAll(pattern)) {
        if (allowed?.(match) !== true) found.push({ line: index + 1, found: match, advice });
      }
    }
    for (const text of own) {
      if (line.includes(text)) found.push({ line: index + 1, found: text, advice: 'this very machine' });
    }
  }
  return found;
}

/** A path of one segment, such as a container's, is too common a word to look for. */
function ownTexts(): string[] {
  const paths = [root, homedir()].filter((path) => path.split('/').length > 2);
  const registry = execFileSync('npm', ['config', 'get', 'registry'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  const host = URL.canParse(registry) ? new URL(registry).host : '';
  return host === '' || publicHosts.test(host) ? paths : [...paths, host];
}

if (import.meta.main) {
  const own = ownTexts();
  let count = 0;
  for (const path of trackedFiles()) {
    const text = textOf(path);
    if (text.includes('\0')) continue;
    for (const { line, found, advice } of secretsIn(text, own)) {
      process.stdout.write(`${path}:${line} ${found}: ${advice}\n`);
      count += 1;
    }
  }
  process.exitCode = count === 0 ? 0 : 1;
}
