import { type Chain, chains } from '@quittance/shared/assets';
import type { Stack } from '@quittance/stack/stack';
import type { DemoAccount } from './demo-accounts.ts';
import type { DemoPerson } from './demo-person.ts';

/** How a person meets each chain's node here. */
const described: Partial<Record<Chain, string>> = {
  bitcoin: 'Bitcoin Core, a block every 5 seconds',
  ethereum: 'anvil, a block a second',
  solana: 'surfpool, final after 13 seconds; a new chain at each start',
};

type Shown = {
  accounts: readonly DemoAccount[];
  person: DemoPerson;
  settingsFile: string;
  /** What a person types to pay an invoice. */
  payCommand: string;
  tookMs: number;
};

/** What a newcomer sees when everything is up: where it is, the key to it, and the next thing to type. */
export function welcome(stack: Stack, { accounts, person, settingsFile, payCommand, tookMs }: Shown): string {
  const [first] = accounts;
  const token = first?.token ?? '';
  return `
Quittance is ready (${(tookMs / 1_000).toFixed(1)} s).

  dashboard  ${stack.url}/dashboard
  sign in    ${person.email}, password ${person.password}
  API        ${stack.url}/api
  docs       ${stack.url}/docs
  account    ${first?.name ?? ''}
  token      ${token}
${nodeLines(stack)}
  prices     ${stack.pricesFile} (edit it while this runs)
  e-mails    ${stack.mailFolder} (written there as .eml files, sent to nobody)
  settings   ${settingsFile}

Ask for ten dollars in Ether (or BTC, SOL, USDC_ERC20, USDC_SOL); type this in another terminal:

  curl -s ${stack.url}/api/invoices -H 'Authorization: Bearer ${token}' \\
    -H 'Content-Type: application/json' -d '{"asset":"ETH","amount":10}'

The answer holds an id (inv_…) and a payment page (url). Pay it as a customer would:

  ${payCommand} inv_…

Ctrl-C stops everything and keeps the data.
`;
}

function nodeLines({ nodes }: Stack): string {
  const known: Partial<Record<Chain, { rpc: string } | undefined>> = nodes;
  return chains
    .flatMap((chain) => {
      const node = known[chain];
      if (node === undefined) return [];
      const name = `${chain.charAt(0).toUpperCase()}${chain.slice(1)}`.padEnd(10);
      // Its user and password stand in the settings, for programs.
      const { protocol, host } = new URL(node.rpc);
      return [`  ${name} ${protocol}//${host} (${described[chain] ?? ''})`];
    })
    .join('\n');
}
