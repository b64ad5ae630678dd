import type { DemoAccount } from './demo-accounts.ts';
import type { Stack } from './stack.ts';

/** What a newcomer sees when everything is up: where it is, the key to it, and the next thing to type. */
export function welcome(
  stack: Stack,
  accounts: readonly DemoAccount[],
  settingsFile: string,
  tookMs: number,
): string {
  const [first] = accounts;
  const token = first?.token ?? '';
  return `
Quittance is ready (${(tookMs / 1_000).toFixed(1)} s).

  API        ${stack.url}/api
  account    ${first?.name ?? ''}
  token      ${token}
  Ethereum   ${stack.engines.ethereum.rpcUrl} (anvil, a block a second)
  prices     ${stack.pricesFile} (edit it while this runs)
  settings   ${settingsFile}

Ask for ten dollars in Ether; type this in another terminal:

  curl -s ${stack.url}/api/invoices -H 'Authorization: Bearer ${token}' \\
    -H 'Content-Type: application/json' -d '{"asset":"ETH","amount":10}'

The answer holds an id (inv_…) and a payment page (url). Pay it as a customer would:

  npm run pay -- inv_…

Ctrl-C stops everything and keeps the data.
`;
}
