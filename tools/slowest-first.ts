import { existsSync } from 'node:fs';
import { join } from 'node:path';
import sequencer from '@jest/test-sequencer';

/**
 * The suites that take longest, half a minute and more on two cores, by what jest says of them. One of them that begins
 * last keeps one core busy, or none at all while it waits, when all others are done.
 */
const slowest: readonly string[] = [
  'test/e2e/money.test.ts',
  'test/e2e/sandbox.test.ts',
  'test/e2e/upgrade.test.ts',
  'test/chain-scenarios/bitcoin-reorgs.test.ts',
  'test/simulation/simulation.test.ts',
  'test/e2e/webhooks.test.ts',
  'services/payouts/test/solana.test.ts',
  'test/chain-scenarios/bitcoin-payouts.test.ts',
  'packages/chains/test/solana-sender.test.ts',
  'services/payouts/test/bitcoin.test.ts',
  'services/invoices/test/real-nodes.test.ts',
  'packages/chains/test/contract/surfpool.test.ts',
  'services/payouts/test/bitcoin-anything.test.ts',
  'services/auditor/test/service.test.ts',
  'services/ledger/test/hold-endings.test.ts',
  'services/ledger/test/start.test.ts',
];

const root = join(import.meta.dirname, '..');
for (const path of slowest) {
  if (!existsSync(join(root, path))) throw new Error(`tools/slowest-first.ts: there is no ${path}`);
}

/** Its declarations are those of its CommonJS half, where the class is one level deeper. */
const Sequencer = sequencer as unknown as typeof sequencer.default;
type Tests = Parameters<sequencer.default['sort']>[0];

/** Jest orders by what it remembers of this machine, which is nothing on a new one, and by the length of the files. */
export default class SlowestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const places = new Map(slowest.map((path, place) => [join(root, path), place]));
    const placeOf = ({ path }: { path: string }) => places.get(path) ?? slowest.length;
    return (await super.sort(tests)).sort((one, other) => placeOf(one) - placeOf(other));
  }
}
