import type { Block } from '@quittance/chains/chain';
import { openFixture } from './fixture.ts';
import type { Script } from './scripted-chain.ts';

/** For one suite: invoices, and rescans of their chain. */
export async function openRescanFixture() {
  const { anInvoice, ...opened } = await openFixture();
  const { fixture, blocks } = opened;
  const { rows, scan, chain } = fixture;
  const ask = (from: number) =>
    rows(
      `insert into rescans (chain, from_height, next_height, asked_at) values ('ethereum', $1, $1, now())`,
      [from],
    );
  const lastRescan = async () => (await rows('select * from rescans order by id desc limit 1'))[0];

  /** Steps until all rescans have ended. */
  async function done() {
    for (let steps = 0; steps < 200; steps++) {
      await scan();
      const [{ open }] = await rows('select count(*)::int as open from rescans where ended_at is null');
      if (open === 0) return;
    }
    throw new Error(`does not end: ${JSON.stringify(await lastRescan())}`);
  }
  async function rescan(from: number) {
    await ask(from);
    await done();
  }
  return {
    ...opened,
    async anInvoice(order: object = {}) {
      const invoice = await anInvoice(order);
      return {
        ...invoice,
        deposits: () =>
          rows('select outpoint, amount::text, state from deposits where invoice_id = $1 order by outpoint', [
            invoice.id,
          ]),
      };
    },
    ask,
    lastRescan,
    height: async () => (await rows('select height from cursors'))[0].height as number,
    done,
    rescan,
    /** Mines a block that is not scanned yet. */
    block: (script: Script = {}) => chain.mine(script)[0] as Block,
    balanceLook: async (address: string) =>
      (
        await rows('select balance_check_at, balance_before::text from addresses where address = $1', [
          address,
        ])
      )[0],
    /** A rescan with its balance checks, which happen at the next block. */
    async rescanWithLooks(from: number) {
      await rescan(from);
      await blocks(3);
    },
  };
}
