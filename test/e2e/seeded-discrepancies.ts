import type { Asset } from './money-scenarios.ts';

const aMined = `(select id from payouts.payouts where status = 'mined' and asset = $1 order by id limit 1)`;
const aCost = `(select min(seq) from ledger.transfers where kind = 'network' and asset = $1)`;
/** Of an account without a rule, which would pay out what is planted. */
const aBalance = `asset = $1 and account_id = (select min(account_id) from ledger.balances
  where asset = $1 and account_id not in (select account_id from payouts.automatic_payouts))`;

/** The error that is seeded in the ledger, what repairs it, and how the checker names it. */
export const seeded: [string, Asset, string[], string[], RegExp][] = [
  ...(['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'] as const).map(
    (asset): [string, Asset, string[], string[], RegExp] => [
      `a payout of ${asset} that is one unit larger in the books than on the chain`,
      asset,
      [
        `update payouts.payments set amount = amount + 1 where payout_id = ${aMined}`,
        `update payouts.payouts set amount = amount + 1 where id = ${aMined}`,
      ],
      [
        `update payouts.payments set amount = amount - 1 where payout_id = ${aMined}`,
        `update payouts.payouts set amount = amount - 1 where id = ${aMined}`,
      ],
      new RegExp(`\\(I4\\): payout \\d+: \\w+ pays \\d+ ${asset} to `),
    ],
  ),
  ...(['BTC', 'ETH', 'SOL'] as const).map((asset): [string, Asset, string[], string[], RegExp] => [
    `a cost in ${asset} that the chain did not take`,
    asset,
    [`update ledger.transfers set amount = amount + 1 where seq = ${aCost}`],
    [`update ledger.transfers set amount = amount - 1 where seq = ${aCost}`],
    /\(I6\): \w+ cost \d+ in the chain, \d+ is booked/,
  ]),
  ...(['BTC', 'ETH', 'USDC_ERC20', 'SOL', 'USDC_SOL'] as const).map(
    (asset): [string, Asset, string[], string[], RegExp] => [
      `more ${asset} owed than lies on the chain`,
      asset,
      [`update ledger.balances set available = available + 10^24::numeric where ${aBalance}`],
      [`update ledger.balances set available = available - 10^24::numeric where ${aBalance}`],
      new RegExp(`\\(I6\\): ${asset} is short of \\d+`),
    ],
  ),
];
