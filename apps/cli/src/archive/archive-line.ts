import { type Command, InvalidArgumentError } from 'commander';
import { type Line, leaf } from '../command-options.ts';
import type { WriteOrder } from './archive-commands.ts';

function month(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a month, such as 2026-08.');
}

/** The commands that take old events out of the database. No other command loads what they copy with. */
export function addArchive(program: Command, { around, prints }: Line): void {
  const archive = program
    .command('archive')
    .description('Events of webhooks that are older than 90 days, in files outside of the database.');
  leaf(archive, 'start', 'keep what is pruned from now on until it is archived')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL_ADMIN. Without it, events are deleted with their deliveries and attempts when they are pruned. Run `archive write`\nevery month then, or unarchived events fill the disk: `quittance doctor` warns.\n',
    )
    .action(prints(async () => (await import('./archive-commands.ts')).startArchiving(around)));
  leaf(archive, 'stop', 'delete events when they are pruned from now on; months that already wait stay')
    .addHelpText('after', '\nNeeds DATABASE_URL_ADMIN.\n')
    .action(prints(async () => (await import('./archive-commands.ts')).stopArchiving(around)));
  leaf(archive, 'write', 'write each month that is pruned into a file, then remove it from the database')
    .option('--to <folder>', 'where the files are written to; required unless --without-file')
    .option('--before <month>', 'only months before this one, such as 2026-08', month)
    .option('--without-file', 'delete the months instead of writing them')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL_ADMIN. A month is written when all of its events are pruned: four months after it began at the latest, unless one is\nstill to be delivered. Each line of a file is an event in JSON with its deliveries and attempts; `zcat` shows it. The file is read again\nbefore the month is removed. In a container, mount the folder. After a run that was ended, run it again. The files are not encrypted.\n\nExamples:\n  $ npx quittance archive start\n  $ npx quittance archive write --to /archive\n  $ npx quittance archive write --to /archive --before 2026-08\n',
    )
    .action(
      prints(async (order: WriteOrder) =>
        (await import('./archive-commands.ts')).writeArchive(around, order),
      ),
    );
}
