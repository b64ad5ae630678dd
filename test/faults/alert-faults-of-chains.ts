import { eventually } from '@quittance/testkit/eventually';
import { type AlertFault, older, payout, WITHIN_MS } from './alert-fault.ts';
import type { AlertFixture } from './alert-fixture.ts';

/** What comes in blocks that nobody expects. */
export const ofBlocks: readonly AlertFault[] = [
  {
    fault: 'the node has a payment in two blocks',
    fires: [{ alert: 'PaymentContradicted', labels: { chain: 'ethereum' } }],
    async begin({ shop, quittance: { ethereum }, mining, node }) {
      const { body } = await shop.post('/api/invoices', { asset: 'ETH', amount: 10 });
      await mining.pause();
      await ethereum.pay('ETH', body.data.address.address, body.data.amount);
      node.repeat((await ethereum.height()) + 1);
      await ethereum.mine(2);
      mining.resume();
    },
    async end({ node, quittance }) {
      node.tellTheTruth();
      // Invoices asks again every minute.
      await quittance.db.rows('update invoices.contradictions set check_at = now()');
    },
  },
  {
    fault: 'somebody sends money to the hot wallet',
    fires: [{ alert: 'OperatorFundsGrew', labels: { asset: 'ETH' } }],
    begin: ({ quittance, hotAddress }) => quittance.ethereum.pay('ETH', hotAddress, '0.5'),
    end: () => undefined,
  },
];

export const ofNodeAndBus: readonly AlertFault[] = [
  {
    fault: 'the nodes of Ethereum are down',
    fires: [
      { alert: 'ChainLags', labels: { chain: 'ethereum' } },
      { alert: 'ChainNotCompared', labels: { chain: 'ethereum' } },
      { alert: 'ChainWithoutLeader', labels: { chain: 'ethereum' } },
    ],
    async begin(fixture) {
      for (const way of [...fixture.ways.invoices, fixture.ways.others]) way.set({ kind: 'refuse' });
      await older(fixture, 'invoices.cursors', 'synced_at', '5 minutes');
    },
    end({ ways }) {
      for (const way of [...ways.invoices, ways.others]) way.set({ kind: 'pass' });
    },
  },
  {
    fault: 'NATS is stopped',
    fires: [{ alert: 'OutboxStuck', labels: { job: 'invoices' } }],
    async begin(fixture) {
      await fixture.quittance.stack.engines.nats.stop();
      await fixture.shop.post('/api/invoices', { asset: 'ETH', amount: 10 });
      await older(fixture, 'invoices.outbox', 'created_at', '2 minutes', 'sent_at is null');
    },
    end: ({ quittance }) => quittance.stack.engines.nats.restart(),
  },
];

export const ofAStrangeChain: readonly AlertFault[] = [
  {
    fault: 'the hot wallet has sent what the database does not know',
    fires: [{ alert: 'SigningPaused', labels: { chain: 'ethereum' } }],
    begin: (fixture) => moveNonce(fixture, 1n),
    end: (fixture) => moveNonce(fixture, -1n),
  },
  {
    fault: 'the node answers slowly while many blocks come',
    fires: [{ alert: 'ChainLagsFar', labels: { chain: 'ethereum' } }],
    async begin({ ways, rpc }) {
      for (const way of ways.invoices) way.set({ kind: 'latency', ms: 200 });
      await rpc('anvil_mine', '0x320');
    },
    end({ ways }) {
      for (const way of ways.invoices) way.set({ kind: 'pass' });
    },
  },
];

export const ofAReorganisation: readonly AlertFault[] = [
  {
    fault: 'the blocks of a settled payout are dropped',
    fires: [{ alert: 'TransactionsMissing', labels: { chain: 'ethereum' } }],
    async begin(fixture) {
      const { ethereum } = fixture.quittance;
      const before = await ethereum.height();
      const until = await payout(fixture);
      await until('mined');
      await fixture.mining.pause();
      await ethereum.dropBlocks((await ethereum.height()) - before);
    },
    end: ({ mining }) => mining.resume(),
  },
];

let taken = new Map<string, string>();

export const ofTheft: readonly AlertFault[] = [
  {
    fault: 'somebody empties the wallets',
    fires: [
      { alert: 'ReservesShort', labels: { asset: 'ETH' } },
      { alert: 'DiscrepanciesFound', labels: { asset: 'ETH' } },
      { alert: 'HaltAsked', labels: { asset: 'ETH' } },
      { alert: 'PayoutsHalted', labels: { asset: 'ETH' } },
    ],
    async begin({ quittance, hotAddress, rpc }) {
      const given = await quittance.db.rows<{ address: string }>(
        `select address from invoices.addresses where chain = 'ethereum'`,
      );
      taken = new Map();
      for (const address of [hotAddress, ...given.map((one) => one.address)]) {
        const balance = String(await rpc('eth_getBalance', address, 'latest'));
        if (balance === '0x0') continue;
        taken.set(address, balance);
        await rpc('anvil_setBalance', address, '0x0');
      }
    },
    async end({ command, rpc }) {
      for (const [address, balance] of taken) await rpc('anvil_setBalance', address, balance);
      await eventually(() => command('payouts', 'resume', '--asset', 'ETH'), WITHIN_MS, 500);
    },
  },
];

async function moveNonce({ hotAddress, rpc }: AlertFixture, by: bigint): Promise<void> {
  const nonce = BigInt(String(await rpc('eth_getTransactionCount', hotAddress, 'latest')));
  await rpc('anvil_setNonce', hotAddress, `0x${(nonce + by).toString(16)}`);
}
