import type { Command } from 'commander';
import { type JsonOption, type Line, type ScopeOptions, scopeOf, withScope } from './command-options.ts';
import { natsPermissions, provisionNats } from './nats-commands.ts';
import { listPausedPayouts, pausePayouts, resumePayouts } from './pause-commands.ts';
import { resumeSigning } from './signing-commands.ts';

/** Commands whose name and arguments have changed, under their former names. They go with the next release. */
export function addFormerNames(program: Command, { around, tell, write }: Line): void {
  const group = (name: string) => program.command(name, { hidden: true });
  const former = (parent: Command, name: string) =>
    parent.command(name, { hidden: true }).option('--json', 'print JSON');

  former(group('engine'), 'allow')
    .description('former name of `signing resume`')
    .argument('<chain>')
    .argument('<up-to>')
    .option('--none-was-paid')
    .action(
      async (
        chain: string,
        upTo: string,
        { json = false, noneWasPaid = false }: JsonOption & { noneWasPaid?: boolean },
      ) => tell(json, await resumeSigning(around, { chain, upTo, confirmNonePaid: noneWasPaid })),
    );

  const asset = group('asset');
  former(asset, 'list')
    .description('former name of `payouts paused`')
    .action(async ({ json = false }: JsonOption) => tell(json, await listPausedPayouts(around)));
  former(asset, 'halt')
    .description('former name of `payouts pause`')
    .argument('<asset>')
    .requiredOption('--reason <text>')
    .action(async (named: string, { json = false, reason }: JsonOption & { reason: string }) =>
      tell(json, await pausePayouts(around, named, reason)),
    );
  for (const resume of [former(asset, 'resume'), former(program, 'resume-payouts')])
    withScope(
      resume.description('former name of `payouts resume`').argument('<asset>').option('--force'),
    ).action(
      async (
        named: string,
        { json = false, force = false, ...given }: JsonOption & ScopeOptions & { force?: boolean },
      ) => tell(json, await resumePayouts(around, { asset: named, force, ...scopeOf(given) })),
    );

  former(program, 'keep-bus')
    .description('former name of `nats provision --watch`')
    .option('--once')
    .action(async ({ json = false, once = false }: JsonOption & { once?: boolean }) =>
      tell(json, await provisionNats(around, { watch: !once })),
    );
  former(program, 'nats-permissions')
    .description('former name of `nats permissions`')
    .action(({ json = false }: JsonOption) => write(json, natsPermissions()));
}
