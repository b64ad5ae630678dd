import { join, relative } from 'node:path';
import sequencer from '@jest/test-sequencer';
import { readTimings } from './timings.ts';

/** Its declarations are those of its CommonJS half, where the class is one level deeper. */
const Sequencer = sequencer as unknown as typeof sequencer.default;
type Tests = Parameters<sequencer.default['sort']>[0];

const root = join(import.meta.dirname, '..');

/**
 * The order of suites: what took longest in `test/timings.json` begins first. A long suite that begins last keeps one core
 * busy, or none at all while it waits, when all others are done. One that is not recorded counts as middling.
 */
export default class SlowestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const seconds = readTimings();
    const of = ({ path }: { path: string }) => seconds[relative(root, path)] ?? UNKNOWN_S;
    return (await super.sort(tests)).sort((one, other) => of(other) - of(one));
  }
}

const UNKNOWN_S = 5;
