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
  /** A command that also answers in JSON. */
  leaf(parent: Command, name: string, description: string): Command;
};

/** The commands with which an operator looks into what happened, and mends what a service cannot. */
export function addOperatorCommands(program: Command, line: Line): void {
  addShows(program, line);
  addParked(program, line);
  addRescan(program, line);
  const { around, tell, leaf } = line;
  const engine = program
    .command('engine')
    .description('Who pays on a chain: one process at a time signs there.');
  leaf(engine, 'allow', 'let it sign again, once you know what it did not know of its own wallet')
    .argument('<chain>', 'such as ethereum')
    .argument('<up-to>', 'the nonce that the chain has, the signature, or the coin, as payouts names it')
    .option('--none-was-paid', 'you have looked: none of the payouts that wait was paid already')
    .addHelpText(
      'after',
      '\npayouts signs nothing ("nothing is signed") while its chain has transactions of the hot wallet that its database\n' +
        'does not know: a backup was restored and the last payouts are forgotten, or somebody else has the seed. Look the\n' +
        'named transaction up in the chain first. A payout that was paid and is paid again is gone. Without\n' +
        '--none-was-paid this only lists the payouts that would be signed next.\n' +
        '\nExamples:\n  $ npx quittance engine allow ethereum 17\n  $ npx quittance engine allow bitcoin 6f1e…a2:0 --none-was-paid\n',
    )
    .action(
      async (
        chain: string,
        upTo: string,
        { json = false, noneWasPaid = false }: JsonOption & { noneWasPaid?: boolean },
      ) => tell(json, await engineAllow(around, { chain, upTo, noneWasPaid })),
    );
  const webhook = program.command('webhook').description('What merchants’ servers are told.');
  leaf(webhook, 'resend', 'deliver an event once more, now and under the same id')
    .argument('<id>', 'a delivery (dlv_…), or an event (evt_…) for all endpoints that it was for')
    .addHelpText('after', '\n`invoice show` and `payout show` name deliveries. Its schedule begins anew.\n')
    .action(async (id: string, { json = false }: JsonOption) => tell(json, await webhookResend(around, id)));
}

function addShows(program: Command, { around, tell, leaf }: Line): void {
  const invoice = program
    .command('invoice')
    .description('What customers were asked for, and what they paid.');
  leaf(invoice, 'show', 'show one with all that happened to it, in every service, by time')
    .argument('<id>', 'its id (inv_…)')
    .addHelpText(
      'after',
      '\nFrom its making over each payment, its block and its booking to the webhooks and what their receivers answered.\nWhat stands still shows at the end: NOT SENT, PARKED, waiting.\n',
    )
    .action(async (id: string, { json = false }: JsonOption) => tell(json, await invoiceShow(around, id)));
  const payout = program.command('payout').description('What merchants send away.');
  leaf(payout, 'show', 'show one with all that happened to it, in every service, by time')
    .argument('<id>', 'its id, a number')
    .addHelpText(
      'after',
      '\nFrom the request over the hold, each signed transaction, its broadcasts and its block to the webhooks and what\ntheir receivers answered. What stands still shows at the end: NOT SENT, PARKED, waiting.\n',
    )
    .action(async (id: string, { json = false }: JsonOption) => tell(json, await payoutShow(around, id)));
  leaf(payout, 'stalled', 'list those that are pending for longer than their chain takes')
    .addHelpText(
      'after',
      '\nThe limits: Bitcoin 3 hours; Ethereum, Base and Polygon 30 minutes; Solana 10 minutes. Ends with 1 when there are any.\n',
    )
    .action(async ({ json = false }: JsonOption) => tell(json, await payoutStalled(around)));
}

function addParked(program: Command, { around, tell, leaf }: Line): void {
  const parked = program
    .command('parked')
    .description('Events between services that could not be taken in: nothing of them has happened yet.');
  leaf(parked, 'list', 'show them with the reason, oldest first').action(
    async ({ json = false }: JsonOption) => tell(json, await parkedList(around)),
  );
  leaf(parked, 'requeue', 'have the sender send one again, once what kept it out is mended')
    .argument('[event]', 'its id (evt_…), as `parked list` shows it')
    .option('--all', 'all of them')
    .option(
      '--not-taken-in',
      'of an EVENT older than its inbox remembers: you have looked, and its effect is not there',
    )
    .addHelpText(
      'after',
      '\nSafe at any time: what is sent is what its sender says, whatever was parked; who has taken the event in already\n' +
        'drops it, and one that fails again is parked again. What no sender has stays parked.\n',
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
  leaf(
    program,
    'rescan',
    'read blocks of a chain once more: payments that were missed come in, what is known stays',
  )
    .argument('[chain]', 'such as ethereum; without it, shows what was asked for and how far it is')
    .option('--from <height>', 'the first block to be read again')
    .option('--stop', 'read no more of it; what was found stays')
    .addHelpText(
      'after',
      '\nFor a node that did not tell everything, or money that a customer can show in the chain and `invoice show` cannot.\n' +
        'Safe at any time: payments are known by their place in the chain, none is counted twice, and none from before its\n' +
        'address was given out. It goes at the pace of the scanner (16 blocks a second, Bitcoin one), one rescan of a chain\n' +
        'after the other, and ends when the node does not have the blocks any more.\n' +
        'Native money that a contract sent (many exchanges pay so) shows in no block. On Ethereum, Base and Polygon the\n' +
        'balance of every address is looked at once after the blocks, 250 a second; from a recent block on is enough for\n' +
        'that. What is found this way is not counted under FOUND: `invoice show` shows it.\n' +
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
