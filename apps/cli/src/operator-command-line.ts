import type { ChainHead } from '@quittance/gateway/operations/audit-log';
import { type Command, Option } from 'commander';
import { type Line, leaf, listLimit, type ScopeOptions, scopeOf, withScope } from './command-options.ts';
import { chainHead } from './read-options.ts';
import { CommandError } from './surroundings.ts';

// Loaded when a command runs, for the reason that command-line.ts gives.
const loadAudit = () => import('./audit-commands.ts');
const loadDeadLetters = () => import('./dead-letter-commands.ts');
const loadFunds = () => import('./funds-commands.ts');
const loadPauses = () => import('./pause-commands.ts');
const loadRescans = () => import('./rescan-commands.ts');
const loadInvoiceHistory = () => import('./show-invoice.ts');
const loadPayoutHistory = () => import('./show-payout.ts');
const loadSigning = () => import('./signing-commands.ts');
const loadStalled = () => import('./stalled-payouts-command.ts');
const loadWebhooks = () => import('./webhook-commands.ts');

const AUDIT_LIST_DEFAULT = 50;

/** The commands with which an operator inspects what happened and repairs what a service cannot repair itself. */
export function addOperatorCommands(program: Command, line: Line): void {
  addInvoices(program, line);
  addPayouts(program, line);
  addDeadLetters(program, line);
  addRescan(program, line);
  addSigning(program, line);
  addAudit(program, line);
  addFunds(program, line);
  const { around, prints } = line;
  const webhook = program.command('webhook').description('Webhook deliveries to the servers of merchants.');
  leaf(webhook, 'resend', 'deliver an event again now, under the same id')
    .argument('<id>', 'a delivery (dlv_…), or an event (evt_…) for all endpoints that were to receive it')
    .addHelpText(
      'after',
      '\n`invoice show` and `payouts show` list the deliveries. The retry schedule starts again.\n',
    )
    .action(prints(async (id: string) => (await loadWebhooks()).webhookResend(around, id)));
}

function addAudit(program: Command, { around, prints, writes }: Line): void {
  const audit = program
    .command('audit')
    .description(
      'The audit log: who changed accounts, tokens and what operators change, when and from where.',
    );
  leaf(audit, 'list', 'list the last entries, oldest first')
    .option('--limit <n>', 'how many', listLimit, AUDIT_LIST_DEFAULT)
    .action(prints(async ({ limit }: { limit: number }) => (await loadAudit()).auditList(around, limit)));
  leaf(audit, 'export', 'write all entries to standard output, a JSON object in each line').action(
    writes(async () => (await loadAudit()).auditExport(around)),
  );
  leaf(audit, 'verify', 'verify that no entry was changed or taken away')
    .option(
      '--head <head>',
      'the head that an earlier run has printed, kept outside of this database',
      chainHead,
    )
    .addHelpText(
      'after',
      '\nEach entry has the hash of the one before it in its own. Who may change the whole database could compute all hashes\nagain: only a head that was noted elsewhere shows that. The exit code is 1 when something is wrong.\n',
    )
    .action(prints(async ({ head }: { head?: ChainHead }) => (await loadAudit()).auditVerify(around, head)));
}

function addFunds(program: Command, { around, prints }: Line): void {
  const funds = program
    .command('funds')
    .description(
      "The operator's own money in the hot wallets, beside what is booked. The auditor measures it.",
    );
  leaf(funds, 'list', 'list how much there is of each asset, and each change').action(
    prints(async () => (await loadFunds()).listOperatorFunds(around)),
  );
  leaf(funds, 'withdrawn', 'note that the operator has taken some of it')
    .requiredOption('--asset <asset>', 'the asset, such as ETH')
    .requiredOption('--amount <amount>', 'how much left the hot wallet, with the fee of the transaction')
    .addHelpText(
      'after',
      '\nThe auditor pauses the payouts of an asset of which less is there than is booked and measured. Note a withdrawal when its\ntransaction is final, and resume payouts. What comes to a hot wallet is noted by the auditor itself.\n',
    )
    .action(
      prints(async (given: { asset: string; amount: string }) =>
        (await loadFunds()).noteOperatorWithdrawal(around, given),
      ),
    );
}

function addInvoices(program: Command, { around, prints }: Line): void {
  const invoice = program.command('invoice').description('Invoices and their payments.');
  leaf(invoice, 'show', 'show its full history in all services, ordered by time')
    .argument('<id>', 'the invoice id (inv_…)')
    .addHelpText(
      'after',
      '\nThe history covers the invoice, each payment, its block, its ledger entries, the webhooks and the answers to them.\nSteps that are not finished are listed last: `NOT SENT`, `DEAD LETTER`, `waiting`.\n',
    )
    .action(prints(async (id: string) => (await loadInvoiceHistory()).showInvoice(around, id)));
}

function addPayouts(program: Command, { around, prints }: Line): void {
  const payouts = program
    .command('payouts')
    .alias('payout')
    .description(
      'Payouts to addresses outside. The auditor pauses the payouts of an asset when its records contradict each other; an operator can pause them too.',
    );
  leaf(payouts, 'show', 'show its full history in all services, ordered by time')
    .argument('<id>', 'the payout id, a number')
    .addHelpText(
      'after',
      '\nThe history covers the request, the hold, each signed transaction, its broadcasts, its block, the webhooks and the\nanswers to them. Steps that are not finished are listed last: `NOT SENT`, `DEAD LETTER`, `waiting`.\n',
    )
    .action(prints(async (id: string) => (await loadPayoutHistory()).showPayout(around, id)));
  leaf(payouts, 'stalled', 'list payouts that are pending for longer than usual on their chain')
    .addHelpText(
      'after',
      '\nThe limits are 3 hours on Bitcoin, 30 minutes on Ethereum, Base and Polygon, 10 minutes on Solana. The exit code is 1\nwhen there is such a payout.\n',
    )
    .action(prints(async () => (await loadStalled()).listStalledPayouts(around)));
  leaf(payouts, 'paused', 'list all assets: whether their payouts are paused, since when and why').action(
    prints(async () => (await loadPauses()).listPausedPayouts(around)),
  );
  leaf(payouts, 'pause', 'pause the payouts of an asset until they are resumed')
    .requiredOption('--asset <asset>', 'the asset, such as ETH')
    .requiredOption('--reason <text>', 'the reason, shown by `payouts paused`')
    .addHelpText(
      'after',
      '\nNew payout requests are answered 503 and nothing new is signed. Transactions that are signed already are still sent\nand confirmed.\n',
    )
    .action(
      prints(async ({ asset, reason }: { asset: string; reason: string }) =>
        (await loadPauses()).pausePayouts(around, asset, reason),
      ),
    );
  withScope(
    leaf(payouts, 'resume', 'resume paused payouts after the cause is fixed')
      .requiredOption('--asset <asset>', 'the asset, such as ETH')
      .option(
        '--force',
        'resume although discrepancies remain: the present ones are acknowledged, any other pauses again',
      ),
  )
    .addHelpText(
      'after',
      '\nThe command compares the records with the chain of the asset, as verify-books does. It needs the settings of the node.\n',
    )
    .action(
      prints(async ({ asset, force = false, ...given }: ScopeOptions & { asset: string; force?: boolean }) =>
        (await loadPauses()).resumePayouts(around, { asset, force, ...scopeOf(given) }),
      ),
    );
}

function addSigning(program: Command, { around, prints }: Line): void {
  const signing = program
    .command('signing')
    .description('Signing on a chain. One payouts replica at a time signs there.');
  leaf(signing, 'resume', 'resume signing after payouts found an unknown transaction of its hot wallet')
    .argument('<chain>', 'the chain, such as ethereum')
    .option('--nonce <nonce>', 'on Ethereum, Base and Polygon: the nonce that the log of payouts names')
    .option('--outpoint <outpoint>', 'on Bitcoin: the output <transaction>:<output> that the log names')
    .option('--signature <signature>', 'on Solana: the signature that the log names')
    .option('--confirm-none-paid', 'confirms that none of the waiting payouts has been paid already')
    .addHelpText(
      'after',
      '\nPayouts stops signing on a chain when the chain has a transaction of the hot wallet that the database does not\n' +
        'know. Either the database was restored from a backup, or somebody else has the recovery phrase. Look the named\n' +
        'transaction up in the chain first: a payout that is paid twice is lost. Without --confirm-none-paid the command\n' +
        'only lists the payouts that would be signed next.\n' +
        '\nExamples:\n  $ npx quittance signing resume ethereum --nonce 17\n  $ npx quittance signing resume bitcoin --outpoint 6f1e…a2:0 --confirm-none-paid\n',
    )
    .action(
      prints(async (chain: string, { confirmNonePaid = false, ...given }: SigningOptions) => {
        const upTo = given.nonce ?? given.outpoint ?? given.signature;
        if (upTo === undefined)
          throw new CommandError('Which transaction? Use --nonce, --outpoint or --signature.');
        return (await loadSigning()).resumeSigning(around, { chain, upTo, confirmNonePaid });
      }),
    );
}

type SigningOptions = {
  nonce?: string;
  outpoint?: string;
  signature?: string;
  confirmNonePaid?: boolean;
};

function addDeadLetters(program: Command, { around, prints }: Line): void {
  const deadLetters = program
    .command('dead-letters')
    .alias('parked')
    .description('Events that a service failed to process. They have had no effect yet.');
  leaf(deadLetters, 'list', 'list them with the reason, oldest first').action(
    prints(async () => (await loadDeadLetters()).listDeadLetters(around)),
  );
  leaf(deadLetters, 'retry', 'have the sending service send one again, after the cause is fixed')
    .alias('requeue')
    .argument('[event]', 'the event id (evt_…) that `dead-letters list` shows')
    .option('--all', 'retry all of them')
    .option('--not-processed', 'for an event older than the inbox: confirms that its effect does not exist')
    .addOption(new Option('--not-taken-in').hideHelp())
    .addHelpText(
      'after',
      '\nThis is safe at any time. The event is sent as its sender stores it. A service that has processed it already drops\n' +
        'it. An event that fails again stays in the list, as does an event that no sender has stored.\n',
    )
    .action(
      prints(async (event: string | undefined, { all = false, ...given }: RetryFlags) =>
        (await loadDeadLetters()).retryDeadLetters(around, {
          event,
          all,
          notProcessed: given.notProcessed === true || given.notTakenIn === true,
        }),
      ),
    );
}

/** --not-taken-in is the former name of --not-processed. */
type RetryFlags = { all?: boolean; notProcessed?: boolean; notTakenIn?: boolean };

function addRescan(program: Command, { around, prints }: Line): void {
  leaf(program, 'rescan', 'read blocks of a chain again to find payments that were missed')
    .argument('[chain]', 'the chain, such as ethereum; without it, all rescans and their progress are listed')
    .option('--from <height>', 'the first block to read again')
    .option('--stop', 'stop the rescan; payments that were found stay')
    .addHelpText(
      'after',
      '\nUse it when a node left payments out, or when a customer shows a payment in the chain that `invoice show` does not\n' +
        'list. It is safe at any time: no payment is counted twice, and none from before its address was assigned. The rescan\n' +
        'reads 16 blocks a second (Bitcoin: 1). A chain has one rescan at a time, and it ends when the node no longer has the\n' +
        'blocks. Native money that a contract sent, as many exchanges do, is not visible in a block. On Ethereum, Base and\n' +
        'Polygon the rescan therefore also asks for the balance of every address, 250 a second, after it has read the blocks.\n' +
        'For that alone, start at a recent block. Payments found by balance are not counted under FOUND; `invoice show`\n' +
        'lists them.\n' +
        '\nExamples:\n  $ npx quittance rescan ethereum --from 21350000\n  $ npx quittance rescan\n',
    )
    .action(
      prints(async (chain: string | undefined, { from, stop = false }: { from?: string; stop?: boolean }) => {
        if (chain === undefined) return (await loadRescans()).rescanList(around);
        return stop
          ? (await loadRescans()).rescanStop(around, chain)
          : (await loadRescans()).rescanAsk(around, { chain, from });
      }),
    );
}
