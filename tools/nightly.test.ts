import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { partOf } from '../test/faults/size.ts';
import { countsOf, dueParts, isGreen, readLines, stateOf, table, together } from './nightly.ts';
import { type Part, partsOf, type RecordLine } from './nightly-parts.ts';

const part = (name: string, file = 'tools/test.ts'): Part => ({ name, file, args: ['usual'] });
const parts = ['a', 'b', 'c', 'd'].map((name) => part(name));
const begun = (name: string, commit = 'abc'): RecordLine => ({
  part: name,
  commit,
  began: '',
  args: ['first'],
});
const ended = (name: string, failed: number, commit = 'abc'): RecordLine => ({
  ...begun(name, commit),
  ...{ passed: 3, failed, skipped: 0, seconds: 90, isGreen: failed === 0 },
});
const names = (due: readonly Part[]) => due.map(({ name }) => name);

describe('the nightly run', () => {
  const lines = [begun('a'), ended('a', 0), begun('b'), ended('b', 1), begun('c')];

  it('runs parts that were stopped or never begun, and failed ones only when they are asked for', () => {
    expect(parts.map((one) => stateOf(lines, one))).toEqual(['passed', 'failed', 'stopped', 'not run']);
    expect(names(dueParts(parts, lines))).toEqual(['c', 'd']);
    expect(names(dueParts(parts, lines, { failed: true }))).toEqual(['b', 'c', 'd']);
    expect(names(dueParts(parts, [...lines, begun('b')]))).toEqual(['b', 'c', 'd']);
  });

  it('has parts on the oldest Postgres that is promised, also when one is run again', () => {
    const guide = readFileSync(new URL('../docs/install.md', import.meta.url), 'utf8');
    const [, oldest = ''] = /^\| Postgres \| (\d+) or newer/m.exec(guide) ?? [];
    const old = partsOf([], 'abc').filter(({ env }) => env?.POSTGRES === oldest);
    expect(old.map(({ args }) => args[0])).toEqual(['integration', 'e2e', 'chain-scenarios']);
    const again = dueParts(old, [begun(old[0]?.name ?? '')]);
    expect(again.map(({ env }) => env)).toEqual(old.map(({ env }) => env));
  });

  it('goes through each fault of the nodes of chains in one of four parts', () => {
    const four = partsOf(['test/faults/chain-node.test.ts'], 'abc').flatMap(({ name, env }) =>
      env?.FAULTS_PART === undefined ? [] : { name, part: env.FAULTS_PART },
    );
    expect(four.map(({ name }) => name)).toEqual([1, 2, 3, 4].map((i) => `faults chain-node ${i}/4`));
    const faults = Array.from({ length: 13 }, (_, i) => i);
    const drawn = four.map(({ part: which }) => partOf(faults, which));
    expect(drawn.map(({ length }) => length)).toEqual([4, 3, 3, 3]);
    expect(new Set(drawn.flat())).toEqual(new Set(faults));
  });

  it('repeats a part with the arguments that it had, so that a failure is seen again', () => {
    expect(dueParts(parts, lines).map(({ args }) => args)).toEqual([['first'], ['usual']]);
  });

  it('counts a part as passed only when tests have passed, none has failed and its process says so', () => {
    const all = { passed: 3, failed: 0, skipped: 0 };
    expect(isGreen(all, 0)).toBe(true);
    expect(isGreen({ ...all, skipped: 2 }, 0)).toBe(true);
    expect(isGreen(all, 1)).toBe(false);
    expect(isGreen({ ...all, passed: 0 }, 0)).toBe(false);
    expect(isGreen({ ...all, failed: 1 }, 0)).toBe(false);
    expect(isGreen({ passed: 0, failed: 0, skipped: 2 }, 0)).toBe(false);
  });

  it('reads a part’s counts from its last line, and a failure when it has none', () => {
    expect(countsOf('1 passed, 1 failed\nmore\n\n12 passed, 0 failed, 3 skipped\n')).toEqual({
      passed: 12,
      failed: 0,
      skipped: 3,
    });
    expect(countsOf('12 passed, 0 failed\nout of memory')).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });

  it('reads a record whose last line was cut when the run was killed', () => {
    const text = `\n${JSON.stringify(ended('a', 0))}\n{"part":"b","com\n${JSON.stringify(begun('c'))}`;
    expect(readLines(text).map((line) => line.part)).toEqual(['a', 'c']);
  });

  it('continues what has ended in another checkout only with any commit, and believes the last outcome', () => {
    const on = (line: RecordLine, day: number) => ({ ...line, began: `2026-03-0${day}T00:00:00.000Z` });
    const elsewhere = [on(ended('a', 0, 'old'), 1), on(ended('b', 0, 'old'), 3)];
    const here = [on(begun('b', 'abc'), 2), on(ended('b', 1, 'abc'), 2), on(begun('c', 'abc'), 4)];
    const states = (anyCommit: boolean) =>
      parts.map((one) => stateOf(together(elsewhere, here, 'abc', anyCommit), one));
    expect(states(true)).toEqual(['passed', 'passed', 'stopped', 'not run']);
    expect(states(false)).toEqual(['not run', 'failed', 'stopped', 'not run']);
  });

  it('shows each part’s state and counts, other commits, and the sum in the last line', () => {
    const shown = table(parts, [...lines, ended('d', 0, '0123456789abcdef')], 'abc').split('\n');
    expect(shown[1]).toMatch(/^a +passed +3 +0 +0 +1\.5$/);
    expect(shown[3]).toMatch(/^c +stopped$/);
    expect(shown[4]).toMatch(/^d +passed +3 +0 +0 +1\.5 +of commit 0123456789$/);
    expect(shown.at(-1)).toBe('9 passed, 1 failed');
  });

  it('has seeds in parts that begin elsewhere for each commit, and a name of its own for each part', () => {
    const of = (commit: string) =>
      partsOf(['test/faults/bus.test.ts', 'test/faults/crash-solana.test.ts'], commit);
    const bases = (commit: string) =>
      of(commit).flatMap(({ args }) => (args.includes('--from') ? [args.at(-1)] : []));
    expect(bases('abc')).toHaveLength(14);
    expect(new Set([...bases('abc'), ...bases('def')]).size).toBe(28);
    expect(bases('abc')).toEqual(bases('abc'));
    expect(names(of('abc'))).toEqual(expect.arrayContaining(['faults bus', 'faults crash-solana']));
    expect(new Set(names(of('abc'))).size).toBe(of('abc').length);
  });

  it('counts the seeds of parts that were smaller, and leaves these as they were', () => {
    const small = (n: string): RecordLine => ({
      ...ended(`simulation ${n}`, 0),
      args: ['--only-fresh', '--seeds', '5000', '--from', n],
    });
    const of = (lines: readonly RecordLine[]) =>
      partsOf([], 'abc', lines).filter(({ args }) => args.includes('--from'));
    const seeds = (all: readonly Part[]) => all.map(({ args }) => args[2]);
    expect(seeds(of([]))).toEqual([...Array.from({ length: 13 }, () => '15000'), '5000']);
    const recorded = [small('01'), small('03'), small('03')];
    const all = of(recorded);
    expect(all.filter(({ args }) => args[2] === '5000').map(({ args }) => args.at(-1))).toEqual(['01', '03']);
    expect(all).toHaveLength(15);
    expect(seeds(all).at(-1)).toBe('10000');
    expect(new Set(names(all)).size).toBe(all.length);
    expect(names(dueParts(all, recorded))).not.toContain('simulation 03');
  });
});
