import { Argument, type Command, Option } from 'commander';
import { type Line, leaf, listLimit, sequence } from './command-options.ts';
import { type ListenOptions, listen } from './listen-command.ts';
import {
  approvePayout,
  cancelInvoice,
  cancelPayout,
  createInvoice,
  createPayout,
  getInvoice,
  getPayout,
  type InvoiceOptions,
  type ListOptions,
  listBalances,
  listInvoices,
  listPayouts,
  type PayoutOptions,
  quotePayout,
  rejectPayout,
  showStatement,
} from './merchant-commands.ts';
import { login, merchantClient } from './merchant-login.ts';
import {
  addAddress,
  deleteAddress,
  type LimitOptions,
  limitAsset,
  listAddresses,
  type PolicyOptions,
  setPolicy,
  showPolicy,
} from './policy-commands.ts';
import { type PayOptions, payInSandbox } from './sandbox-payer.ts';
import { type TriggerOptions, trigger, triggered } from './trigger-command.ts';

const LIMIT = 20;

/** The commands of a merchant, who has an API token and no database. */
export function addMerchantCommands(program: Command, line: Line): void {
  const { around, prints } = line;
  const client = () => merchantClient(around);
  leaf(program, 'login', 'store the URL and the API token for the commands of a merchant')
    .option('--url <url>', 'where Quittance answers, such as https://pay.example.com')
    .addHelpText(
      'after',
      '\nThe token is asked for, or read on standard input. Both are stored in quittance/config.json of XDG_CONFIG_HOME (~/.config),\nreadable to you alone. QUITTANCE_URL and QUITTANCE_TOKEN override them.\n',
    )
    .action(prints((options: { url?: string }) => login(around, options)));
  addInvoices(program, line);
  addPayouts(program, line);
  addPolicy(program, line);
  leaf(program, 'balance', 'list what can be spent of each asset').action(
    prints(() => listBalances(client())),
  );
  leaf(program, 'statement', 'sum up one month of one asset')
    .argument('<month>', 'the month (UTC), such as 2026-11')
    .requiredOption('--asset <asset>', 'the asset, such as ETH')
    .option('--currency <currency>', 'what values are in; US dollars without this')
    .action(
      prints((month: string, options: { asset: string; currency?: string }) =>
        showStatement(client(), month, options),
      ),
    );
  leaf(program, 'listen', 'print events as they happen, and post them to a local server as webhooks')
    .option('--forward-to <url>', 'the local URL, such as http://localhost:3000/hook')
    .option('--after <sequence>', 'begin after this event instead of now; 0 for all that are kept', sequence)
    .option('--events <types...>', 'event types, such as invoice.paid; without this all')
    .addHelpText(
      'after',
      '\nThe webhooks are signed with the secret that is printed first (with --json as {"secret": …}), which stays the same for a token. Nothing is sent again.\n\nExamples:\n  $ npx quittance listen --forward-to http://localhost:3000/hook\n',
    )
    .action((options: ListenOptions) => listen(around, options));
  leaf(program, 'trigger', 'make an event happen, to try out a server')
    .addArgument(new Argument('<event>', 'invoice.paid in a sandbox alone').choices(triggered))
    .option('--endpoint <id>', 'of webhook.test: the endpoint (whe_…); without this all that are enabled')
    .option('--asset <asset>', 'of invoices: the asset; ETH without this')
    .option('--idempotency-key <key>', 'of invoices: repeating the command with it creates no second one')
    .action(
      prints((event: (typeof triggered)[number], options: TriggerOptions) =>
        trigger(around, client(), event, options),
      ),
    );
  leaf(program, 'pay', 'pay an invoice of the sandbox that `npm start` runs, as its customer would')
    .argument('<invoice-id>', 'the invoice id (inv_…)')
    .option('--asset <asset>', 'chooses the asset first, where the invoice leaves the choice to its payer')
    .option('--amount <amount>', 'this much of the asset instead of what is due')
    .option('--late', 'waits until the time of the invoice is over, then pays')
    .option('--port <port>', 'of the sandbox, when several run')
    .action(
      prints((id: string, { asset, amount, late, port }: PayOptions) =>
        payInSandbox(around, id, {
          ...(asset && { asset }),
          ...(amount && { amount }),
          ...(late && { late }),
          ...(port && { port }),
        }),
      ),
    );
}

const withFilters = (command: Command): Command =>
  command
    .option('--limit <count>', 'how many, newest first', listLimit, LIMIT)
    .option('--status <status>', 'only those with this status')
    .option('--asset <asset>', 'only those in this asset')
    .option('--external-id <text>', 'only those with this reference of yours');

function addInvoices(program: Command, { around, prints }: Line): void {
  const client = () => merchantClient(around);
  const invoices = program
    .command('invoices')
    .description('The invoices of your account, with its API token.');
  leaf(invoices, 'create', 'create an invoice and show its payment page')
    .argument('<amount>', 'the price, in US dollars unless --currency says otherwise')
    .option('--asset <asset>', 'the asset, such as ETH; without this the payer chooses')
    .option('--currency <currency>', 'the currency of the amount')
    .option('--external-id <text>', 'your own reference')
    .option('--description <text>', 'what the payment page shows to your customer')
    .option('--expires-in <minutes>', 'minutes to pay')
    .option('--idempotency-key <key>', 'repeating the command with it creates no second invoice')
    .action(prints((amount: string, options: InvoiceOptions) => createInvoice(client(), amount, options)));
  withFilters(leaf(invoices, 'list', 'list invoices, newest first')).action(
    prints((options: ListOptions) => listInvoices(client(), options)),
  );
  for (const [name, description, run] of [
    ['get', 'show an invoice', getInvoice],
    ['cancel', 'cancel an invoice for which no payment was seen', cancelInvoice],
  ] as const)
    leaf(invoices, name, description)
      .argument('<id>', 'the invoice id (inv_…)')
      .action(prints((id: string) => run(client(), id)));
}

/** They share their group with the commands of the operator. */
function addPayouts(program: Command, { around, prints }: Line): void {
  const client = () => merchantClient(around);
  const payouts = program.commands.find((command) => command.name() === 'payouts');
  if (payouts === undefined) throw new Error('the operator’s commands come first');
  leaf(payouts, 'create', 'with an API token: send from your balance to an address')
    .argument('<asset>', 'the asset, such as ETH')
    .argument('<amount>', 'how much of the asset; max for all that the balance has after the network fee')
    .argument('<address>', 'the recipient')
    .option('--external-id <text>', 'your own reference')
    .option(
      '--idempotency-key <key>',
      'a text that names the payout, so that repeating the command never pays twice',
    )
    .action(
      prints((asset: string, amount: string, address: string, options: PayoutOptions) =>
        createPayout(client(), [asset, amount, address], options),
      ),
    );
  withFilters(leaf(payouts, 'list', 'with an API token: list your payouts, newest first'))
    .option('--waiting', 'only those that wait for an approval')
    .action(prints((options: ListOptions) => listPayouts(client(), options)));
  for (const [name, description, run] of [
    ['get', 'with an API token: show a payout', getPayout],
    ['cancel', 'with an API token: cancel a payout that is not signed', cancelPayout],
    ['approve', 'with another API token than that of the payout: approve it', approvePayout],
    ['reject', 'with an API token: reject a payout that waits for an approval', rejectPayout],
  ] as const)
    leaf(payouts, name, description)
      .argument('<id>', 'the payout id, a number')
      .action(prints((id: string) => run(client(), id)));
  leaf(payouts, 'quote', 'with an API token: what a payout would cost now')
    .argument('<asset>', 'the asset, such as ETH')
    .argument('<amount>', 'how much of the asset, or max')
    .action(prints((asset: string, amount: string) => quotePayout(client(), asset, amount)));
}

function addPolicy(program: Command, { around, prints }: Line): void {
  const client = () => merchantClient(around);
  const policy = program
    .command('policy')
    .description(
      'What your account allows of its payouts, with an API token: address book, limits, approvals.',
    );
  leaf(policy, 'show', 'show the policy, and what takes its place later').action(
    prints(() => showPolicy(client())),
  );
  leaf(policy, 'set', 'change the allow-list or the delay')
    .addOption(
      new Option('--allow-list <choice>', 'payouts go to the address book alone').choices(['on', 'off']),
    )
    .option('--delay-hours <hours>', 'how long a new address and a change that allows more wait')
    .action(prints((options: PolicyOptions) => setPolicy(client(), options)));
  leaf(policy, 'limit', 'replace the limits of payouts in an asset; without options it has none')
    .argument('<asset>', 'the asset, such as ETH')
    .option('--per-payout <amount>', 'the most that one payout may be')
    .option('--per-24h <amount>', 'the most that the payouts of any 24 hours may be together')
    .option('--approval-above <amount>', 'a payout of more waits for approvals; 0: each does')
    .option('--approvals <count>', 'how many other tokens must approve it: 1 or 2')
    .action(prints((asset: string, options: LimitOptions) => limitAsset(client(), asset, options)));
  leaf(policy, 'addresses', 'list the address book, newest first')
    .option('--limit <count>', 'how many', listLimit, LIMIT)
    .action(prints(({ limit }: { limit: number }) => listAddresses(client(), limit)));
  leaf(policy, 'add-address', 'add an address to the address book')
    .argument('<chain>', 'the network, such as ethereum')
    .argument('<address>', 'the recipient')
    .argument('<label>', 'whose it is')
    .action(
      prints((chain: string, address: string, label: string) => addAddress(client(), chain, address, label)),
    );
  leaf(policy, 'delete-address', 'delete an address from the address book')
    .argument('<id>', 'the id of the entry (adr_…)')
    .action(prints((id: string) => deleteAddress(client(), id)));
}
