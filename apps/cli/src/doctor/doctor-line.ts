import type { Command } from 'commander';
import { hoursOld, type Line, leaf } from '../command-options.ts';
import type { DoctorOptions } from './doctor-command.ts';

const BACKUP_HOURS = 26;

/** The command that looks at an installation and says what to do. */
export function addDoctor(program: Command, { around, prints }: Line): void {
  leaf(
    program,
    'doctor',
    'look at settings, versions, migrations, clocks, nodes, NATS, certificates, disks and backups, and say what to do',
  )
    .option(
      '--schema',
      'compare the schema of each service with that of this release instead: tables, columns, indexes, functions, grants',
    )
    .option(
      '--backups <place>',
      'the folder or the store (s3://bucket/path) that backups are written to: the newest tells the age of the last one',
    )
    .option('--backup-hours <hours>', 'how old the last backup may be', hoursOld, BACKUP_HOURS)
    .addHelpText(
      'after',
      '\nIt changes nothing. The exit code is 1 when there is a problem; a warning, or what cannot be looked at from here, leaves it 0.\nDATABASE_URL_ADMIN is the database, NATS_URL with the user `provisioner` is NATS, and the chains come from the settings of\nthe payouts service. Certificates are those of all of these URLs, of REDIS_URL and of PUBLIC_URL, where they are set.\n',
    )
    .action(
      prints(async (options: DoctorOptions) => (await import('./doctor-command.ts')).doctor(around, options)),
    );
}
