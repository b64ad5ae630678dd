import { type Service, services } from '@quittance/shared/events';
import { type Command, InvalidArgumentError } from 'commander';
import { type Line, leaf, type ScopeOptions, scopeOf, withScope } from '../command-options.ts';
import { CommandError } from '../surroundings.ts';
import type { BackupOrder } from './backup-command.ts';

const repeated = (value: string, before: readonly string[] = []): string[] => [...before, value];

function service(value: string, before: readonly Service[] = []): Service[] {
  const found = services.find((one) => one === value);
  if (found === undefined) throw new InvalidArgumentError(`It must be one of ${services.join(', ')}.`);
  return [...before, found];
}

type RestoreOptions = ScopeOptions & {
  identity?: string;
  only?: Service[];
  check?: boolean;
  repair?: boolean;
  pause?: boolean;
};

/** The commands that save all records and bring them back. No other command loads what they encrypt and copy with. */
export function addBackup(program: Command, { around, prints }: Line): void {
  leaf(program, 'backup', 'save the records of all services, of one moment, in an encrypted file')
    .requiredOption(
      '--to <place>',
      'where it is written to: a folder, a store that speaks S3 (s3://bucket/path), or - for standard output',
    )
    .requiredOption(
      '--recipient <key>',
      'the public key of age (age1…) for which it is encrypted; may be repeated',
      repeated,
    )
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL_ADMIN. Services go on meanwhile. `age-keygen` makes a key pair; the private key does not belong on this machine.\nThe file has neither the recovery phrase nor the settings.\nA store is that of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION; one that is not Amazon’s is named by AWS_ENDPOINT_URL_S3.\n\nExamples:\n  $ npx quittance backup --to /backups --recipient age1…\n  $ npx quittance backup --to s3://backups/quittance --recipient age1…\n  $ npx quittance backup --to - --recipient age1… | rclone rcat store:quittance/monday.age\n',
    )
    .action(
      prints(async (order: BackupOrder) => {
        const { backUp } = await import('./backup-command.ts');
        return await backUp(around, order);
      }),
    );
  withScope(
    leaf(program, 'restore', 'bring a backup into an empty database, with all payouts paused; then compare'),
  )
    .argument(
      '[file]',
      'the backup: a file, an object of a store (s3://bucket/path), or - for standard input',
    )
    .option('--identity <file>', 'the file with the private key of age')
    .option(
      '--only <service>',
      'restore the records of this service beside the present ones of the others; may be repeated',
      service,
    )
    .option('--check', 'name every difference between the databases and the chains')
    .option('--repair', 'with --check: repair what the records and the chains prove')
    .option('--pause', 'only pause all payouts, after a restore from the log archive of Postgres')
    .addHelpText(
      'after',
      '\nNeeds DATABASE_URL_ADMIN, an empty database after `quittance migrate`, and that all services are stopped. All is restored, or nothing.\nThe chains come from the settings of the payouts service.\n\nExamples:\n  $ npx quittance restore quittance-2026-11-27T03-00-00Z.age --identity key.txt\n  $ npx quittance restore s3://backups/quittance/quittance-2026-11-27T03-00-00Z.age --identity key.txt\n  $ npx quittance restore --check\n  $ npx quittance restore --check --repair\n',
    )
    .action(
      prints(
        async (
          file: string | undefined,
          { identity, only = [], check, repair, pause, ...scope }: RestoreOptions,
        ) => {
          if (file === undefined && check === true) {
            const { checkRestored } = await import('./restore-check.ts');
            return await checkRestored(around, { ...scopeOf(scope), repair: repair === true });
          }
          const { pauseRestored, restore } = await import('./restore-command.ts');
          if (file === undefined && pause === true && repair !== true) return await pauseRestored(around);
          if (file === undefined || check === true || repair === true || pause === true)
            throw new CommandError(
              'Either the file of a backup, or --check, with --repair or without, or --pause.',
            );
          if (identity === undefined)
            throw new CommandError('Which key opens the backup? Name its file: --identity key.txt.');
          return await restore(around, { file, identity, only });
        },
      ),
    );
}
