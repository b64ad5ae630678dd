import type { BitcoinSender } from '@quittance/chains/bitcoin/sender';
import type { BitcoinSigner } from '@quittance/chains/bitcoin/signer';
import type { ChainSender } from '@quittance/chains/chain';
import type { EvmSigner } from '@quittance/chains/evm/signer';
import type { SolanaSender } from '@quittance/chains/solana/sender';
import type { SolanaSigner } from '@quittance/chains/solana/signer';
import { chainLease, type runChainWorker } from '@quittance/payouts/operations/run-chain-worker';
import { invalidateGroup } from '@quittance/payouts/operations/transactions';
import type { PayoutChain, Ports } from '@quittance/payouts/ports';
import { openGroups, walletsWithOpenTransactions } from '@quittance/payouts/store/replacement-groups';
import type { Transaction } from '@quittance/payouts/store/transactions';
import { takeLease } from '@quittance/shared/lease';
import { units } from '@quittance/shared/money';
import type { Mutant, Wiring } from '../mutant.ts';
import { sendsOtherwise, signsOtherwise } from './senders.ts';
import { hookedDb, rewrite } from './statements.ts';

const MINUTE_MS = 60_000;
const GIVEN_UP_AFTER_MS = 10 * MINUTE_MS;
const ALL = 1_000;

type Engine = typeof runChainWorker;

/** Something more after every round of an engine. */
function afterEachRound(wiring: Wiring, more: (ports: Ports, on: PayoutChain) => Promise<void>): void {
  wiring.steps['payouts.engine'] = (real: Engine): Engine =>
    (async (ports: Ports, on: PayoutChain) => {
      const moved = await (real as (ports: Ports, on: PayoutChain) => Promise<number>)(ports, on);
      await more(ports, on);
      return moved;
    }) as Engine;
}

/** Fails the payouts of transactions for another reason than a proof. */
function givingUp(
  wiring: Wiring,
  isGivenUp: (newest: Transaction, ports: Ports, on: PayoutChain) => Promise<boolean>,
): void {
  afterEachRound(wiring, async (ports, on) => {
    const { db, settings } = ports;
    const lease = await takeLease(db, chainLease(on), settings.replica, settings.leaseMs);
    if (lease === undefined) return;
    for (const wallet of await walletsWithOpenTransactions(db, on.chain, on.sender.hotAddress, ALL)) {
      for (const group of await openGroups(db, on.chain, wallet, ALL)) {
        const newest = group.at(-1) ?? group[0];
        if (newest.purpose === 'payout' && (await isGivenUp(newest, ports, on))) {
          await invalidateGroup({ ...ports, ...on }, lease, newest);
        }
      }
    }
  });
}

/** Two engines at once, and nothing in the database that refuses the second one. */
function guardNothing(wiring: Wiring): void {
  rewrite(wiring, 'payouts.payouts_move', ['status = any($2)', '$2::text[] is not null']);
  rewrite(wiring, 'payouts.payouts_plan', [`and status = 'reserved' and cancel_requested_at is null`, '']);
  rewrite(wiring, 'payouts.signing_plans_insert', [
    'do nothing',
    'do update set transactions = excluded.transactions, fence = excluded.fence',
  ]);
  wiring.sql.set(
    'payouts.payments_insert',
    (text) => `${text} on conflict (payout_id) do update set replacement_group = excluded.replacement_group`,
  );
  wiring.sql.set(
    'payouts.lease_fence',
    () => 'select 1 where $1::text is not null and $2::text is not null and $3::bigint is not null',
  );
}

/** How money leaves. */
export const signingMutants: readonly Mutant[] = [
  {
    name: 'signed-without-a-plan',
    what: 'what is signed was not planned in the database, and is sent before it is stored',
    shows: /^paid 2 times|^paid, and its payout is|whom nobody was to pay|are left after all that was paid/,
    apply(wiring) {
      signsOtherwise(wiring, sendingAtOnce);
      wiring.sql.set(
        'payouts.signing_plans_insert',
        () => 'select $1::text as chain where $2::jsonb is not null and $3::bigint is not null',
      );
      rewrite(wiring, 'payouts.payouts_plan', [`set status = 'planned'`, `set status = 'reserved'`]);
      rewrite(wiring, 'payouts.payouts_move', [
        'status = any($2)',
        `(status = any($2) or ($3 = 'signed' and status = 'reserved'))`,
      ]);
    },
  },
  {
    name: 'signed-anew-when-not-taken',
    what: 'what a node has not said yes to is thrown away, and the payout is signed anew',
    shows: /^paid 2 times/,
    apply(wiring) {
      afterEachRound(wiring, ({ db }, { chain }) =>
        db.transaction(async (trx) => {
          const thrown = await trx.rows<{ replacement_group: string }>(
            `update transactions set state = 'invalidated'
             where chain = $1 and purpose = 'payout' and state = 'signed' and broadcasts > 0 returning replacement_group`,
            [chain],
          );
          const replacementGroups = thrown.map(({ replacement_group }) => replacement_group);
          await trx.rows(
            `update payouts set status = 'reserved'
             where status = 'signed' and id in (select payout_id from payments where replacement_group = any($1::bigint[]))`,
            [replacementGroups],
          );
          await trx.rows('delete from payments where replacement_group = any($1::bigint[])', [
            replacementGroups,
          ]);
        }),
      );
    },
  },
  {
    name: 'dropped-is-failed',
    what: 'a transaction that the node does not have any more has failed: its hold is released',
    shows: /^paid, and its payout is failed/,
    // Its nodes tell of nothing that waits.
    kinds: ['solana'],
    apply: (wiring) =>
      givingUp(wiring, async ({ txHash, lastBroadcastAt }, { clock }, { sender }) => {
        if (lastBroadcastAt === null || clock.now().getTime() - lastBroadcastAt.getTime() < 1_000)
          return false;
        return (await sender.status(txHash)).state === 'absent';
      }),
  },
  {
    name: 'late-is-failed',
    what: 'a transaction that was not mined within ten minutes has failed: released without proof',
    shows: /^paid, and its payout is failed/,
    apply: (wiring) =>
      givingUp(
        wiring,
        async ({ createdAt }, { clock }) => clock.now().getTime() - createdAt.getTime() > GIVEN_UP_AFTER_MS,
      ),
  },
  {
    name: 'refused-is-failed',
    what: 'a transaction that a node refuses has failed',
    shows: /^paid, and its payout is failed/,
    apply(wiring) {
      const refusals = new WeakMap<ChainSender, Set<string>>();
      wiring.sender = <T extends ChainSender>(sender: T): T => {
        const refused = new Set<string>();
        const listening = {
          ...sender,
          async broadcast(raw: string) {
            const answer = await sender.broadcast(raw);
            if (answer === 'rejected') refused.add(raw);
            return answer;
          },
        };
        refusals.set(listening, refused);
        return listening;
      };
      givingUp(wiring, async ({ raw }, _ports, { sender }) => refusals.get(sender)?.has(raw) === true);
    },
  },
  {
    name: 'settled-at-first-sight',
    what: 'a payout is done in its first block, and nobody looks at it again',
    shows: /^mined, and nothing was paid|the settled payout to \S+ is not in the chain/,
    kinds: ['evm', 'bitcoin'],
    seedsMax: 4_000,
    apply(wiring) {
      rewrite(wiring, 'payouts.payouts_insert', [
        /min_confirmations(?=, external_id[^()]* from)/,
        'least(min_confirmations, 1)',
      ]);
      rewrite(wiring, 'payouts.transactions_not_final', ['where chain = $1', 'where false and chain = $1']);
    },
  },
  {
    name: 'no-lease',
    what: 'every replica pays, and what it signs is guarded by nothing',
    shows: /^paid 2 times/,
    // A round takes longest here: others come in between. Two rounds must be at the same payout, with a block between them.
    kinds: ['solana'],
    seedsMax: 4_000,
    apply(wiring) {
      guardNothing(wiring);
      rewrite(wiring, 'payouts.lease_take', [
        /where leases.holder[\s\S]*clock_timestamp\(\)\n/,
        'where true\n',
      ]);
    },
  },
  {
    name: 'no-fence',
    what: 'who had the lease when a round began signs, however long it slept meanwhile',
    shows: /^paid 2 times/,
    apply(wiring) {
      guardNothing(wiring);
      wiring.steps['payouts.engine'] = (real: Engine): Engine =>
        (async (ports: Ports, on: PayoutChain) => {
          const once = real as (ports: Ports, on: PayoutChain) => Promise<number>;
          return await once({ ...ports, db: believingItsLease(ports.db) }, on);
        }) as Engine;
    },
  },
  {
    name: 'fee-raised-with-other-coins',
    what: 'what waits is signed for a higher fee out of other coins',
    shows: /^paid 2 times/,
    kinds: ['bitcoin'],
    apply(wiring) {
      sendsOtherwise<BitcoinSender>(wiring, ({ selectUtxos }) => ({
        selectUtxos: ({ required: _required, ...order }) => selectUtxos(order),
      }));
    },
  },
  {
    name: 'fee-raised-with-another-nonce',
    what: 'what waits is signed for a higher fee with the nonce after it',
    shows: /^paid 2 times/,
    kinds: ['evm'],
    apply(wiring) {
      signsOtherwise<EvmSigner>(wiring, ({ signTransfer }) => {
        const signed = new Map<number, bigint>();
        return {
          async signTransfer(order) {
            const before = signed.get(order.nonce);
            signed.set(order.nonce, order.fees.maxFeePerGas);
            const isAgain = before !== undefined && before !== order.fees.maxFeePerGas;
            return await signTransfer(isAgain ? { ...order, nonce: order.nonce + 1 } : order);
          },
        };
      });
    },
  },
  {
    name: 'absent-is-expired',
    what: 'signed bytes that the node does not know after half a minute will never be mined',
    shows: /^paid 2 times|are left after all that was paid/,
    kinds: ['solana'],
    apply(wiring) {
      sendsOtherwise<SolanaSender>(wiring, () => ({ nonInclusion: async () => 'proven' }));
    },
  },
  {
    name: 'voted-for-is-mined',
    what: 'a payout is done when its block is voted for',
    shows: /are left after all that was paid/,
    kinds: ['solana'],
    apply(wiring) {
      sendsOtherwise(wiring, (sender) => ({
        async status(txHash) {
          const seen = await sender.status(txHash);
          if (seen.state !== 'pending') return seen;
          const height = await sender.finalizedHeight();
          const feePaid = units(5_010n);
          return { state: 'mined', height, blockHash: 'voted', confirmations: 1, succeeded: true, feePaid };
        },
      }));
    },
  },
];

/** The signing calls of each kind, sending what they have signed. */
function sendingAtOnce(
  { signTransfer, signSpend }: Partial<SolanaSigner & BitcoinSigner>,
  sender: ChainSender,
): object {
  return {
    ...(signTransfer === undefined
      ? {}
      : {
          async signTransfer(order: Parameters<typeof signTransfer>[0]) {
            const signed = await signTransfer(order);
            await sender.broadcast(signed.raw);
            return signed;
          },
        }),
    ...(signSpend === undefined
      ? {}
      : {
          async signSpend(spend: Parameters<typeof signSpend>[0]) {
            const signed = await signSpend(spend);
            void sender.broadcast(signed.raw);
            return signed;
          },
        }),
  };
}

/** The lease is taken once a round; what is asked of it later is answered from memory. */
function believingItsLease(db: Ports['db']): Ports['db'] {
  let taken: Record<string, unknown>[] | undefined;
  return hookedDb(db, async ({ sql }, go) => {
    if (sql.name !== 'lease_take') return await go();
    const known = taken ?? (await go());
    if (known.length > 0) taken = known;
    return known;
  });
}
