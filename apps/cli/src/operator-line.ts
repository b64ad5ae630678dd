import type { Command } from 'commander';
import { engineAllow } from './engine-commands.ts';
import type { SaidOutcome } from './outcome.ts';
import { parkedList, parkedRequeue } from './parked-commands.ts';
import { rescanAsk, rescanList, rescanStop } from './rescan-commands.ts';
import { invoiceShow, payoutShow } from './show-commands.ts';
import { payoutStalled } from './stalled-command.ts';
import type { Surroundings } from './surroundings.ts';
import { webhookResend } from './webhook-commands.ts';

type JsonOption = { json?: boolean };

type Line = {
  around: Surroundings;
  tell(json: boolean, outcome: SaidOutcome): void;
  /** Adds a command that has the option --json. */
  leaf(parent: Command, name: string, description: string): Command;
};

/** The commands with which an operator inspects what happened and repairs what a service cannot repair itself. */
export function addOperatorCommands(program: Command, line: Line): void {
  addShows(program, line);
  addParked(program, line);
  addRescan(program, line);
  const { around, tell, leaf } = line;
  const engine = program
    .command('engine')
    .description('Signing on a chain. One payouts replica at a time signs there.');
  leaf(engine, 'allow', 'allow signing again after payouts found an unknown transaction of its hot wallet')
    .argument('<chain>', 'the chain, such as ethereum')
    .argument('<up-to>', 'the nonce, signature or output that the log of payouts names')
    .option('--none-was-paid', 'confirms that none of the waiting payouts has been paid already')
    .addHelpText(
      'after',
      '\nPayouts stops signing on a chain when the chain has a transaction of the hot wallet that the database does not\n' +
        'know. Either the database was restored from a backup, or somebody else has the recovery phrase. Look the named\n' +
        'transaction up in the chain first: a payout that is paid twice is lost. Without --none-was-paid the command only\n' +
        'lists the payouts that would be signed next.\n' +
        '\nExamples:\n  $ npx quittance engine allow ethereum 17\n  $ npx quittance engine allow bitcoin 6f1e…a2:0 --none-was-paid\n',
    )
    .action(
      async (
        chain: string,
        upTo: string,
        { json = false, noneWasPaid = false }: JsonOption & { noneWasPaid?: boolean },
      ) => tell(json, await engineAllow(around, { chain, upTo, noneWasPaid })),
    );
  const webhook = program.command('webhook').description('Webhook deliveries to the servers of merchants.');
  leaf(webhook, 'resend', 'deliver an event again now, under the same id')
    .argument('<id>', 'a delivery (dlv_…), or an event (evt_…) for all endpoints that were to receive it')
    .addHelpText(
      'after',
      '\n`invoice show` and `payout show` list the deliveries. The retry schedule starts again.\n',
    )
    .action(async (id: string, { json = false }: JsonOption) => tell(json, await webhookResend(around, id)));
}

function addShows(program: Command, { around, tell, leaf }: Line): void {
  const invoice = program.command('invoice').description('Invoices and their payments.');
  leaf(invoice, 'show', 'show its full history in all services, ordered by time')
    .argument('<id>', 'the invoice id (inv_…)')
    .addHelpText(
      'after',
      '\nThe history covers the invoice, each payment, its block, its ledger entries, the webhooks and the answers to them.\nSteps that are not finished are listed last: `NOT SENT`, `PARKED`, `waiting`.\n',
    )
    .action(async (id: string, { json = false }: JsonOption) => tell(json, await invoiceShow(around, id)));
  const payout = program.command('payout').description('Payouts to addresses outside.');
  leaf(payout, 'show', 'show its full history in all services, ordered by time')
    .argument('<id>', 'the payout id, a number')
    .addHelpText(
      'after',
      '\nThe history covers the request, the hold, each signed transaction, its broadcasts, its block, the webhooks and the\nanswers to them. Steps that are not finished are listed last: `NOT SENT`, `PARKED`, `waiting`.\n',
    )
    .action(async (id: string, { json = false }: JsonOption) => tell(json, await payoutShow(around, id)));
  leaf(payout, 'stalled', 'list payouts that are pending for longer than usual on their chain')
    .addHelpText(
      'after',
      '\nThe limits are 3 hours on Bitcoin, 30 minutes on Ethereum, Base and Polygon, 10 minutes on Solana. The exit code is 1\nwhen there is such a payout.\n',
    )
    .action(async ({ json = false }: JsonOption) => tell(json, await payoutStalled(around)));
}

function addParked(program: Command, { around, tell, leaf }: Line): void {
  const parked = program
    .command('parked')
    .description('Dead letters: events that a service failed to process. They have had no effect yet.');
  leaf(parked, 'list', 'list them with the reason, oldest first').action(
    async ({ json = false }: JsonOption) => tell(json, await parkedList(around)),
  );
  leaf(parked, 'requeue', 'have the sending service send one again, after the cause is fixed')
    .argument('[event]', 'the event id (evt_…) that `parked list` shows')
    .option('--all', 'requeue all of them')
    .option('--not-taken-in', 'for an event older than the inbox: confirms that its effect does not exist')
    .addHelpText(
      'after',
      '\nThis is safe at any time. The event is sent as its sender stores it. A service that has processed it already drops\n' +
        'it. An event that fails again stays in the list, as does an event that no sender has stored.\n',
    )
    .action(
      async (
        event: string | undefined,
        {
          json = false,
          all = false,
          notTakenIn = false,
        }: JsonOption & { all?: boolean; notTakenIn?: boolean },
      ) => tell(json, await parkedRequeue(around, { event, all, notTakenIn })),
    );
}

function addRescan(program: Command, { around, tell, leaf }: Line): void {
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
      async (
        chain: string | undefined,
        { json = false, from, stop = false }: JsonOption & { from?: string; stop?: boolean },
      ) => {
        if (chain === undefined) tell(json, await rescanList(around));
        else tell(json, await (stop ? rescanStop(around, chain) : rescanAsk(around, { chain, from })));
      },
    );
}
