import type { Command } from 'commander';
import { type Line, type ScopeOptions, scopeOf, withScope } from './command-options.ts';

// Loaded when a command runs, for the reason that command-line.ts gives.
const loadNats = () => import('./nats-commands.ts');
const loadPauses = () => import('./pause-commands.ts');
const loadSigning = () => import('./signing-commands.ts');

/** Commands whose name and arguments have changed, under their former names. They go with the next release. */
export function addFormerNames(program: Command, { around, prints, writes }: Line): void {
  const group = (name: string) => program.command(name, { hidden: true });
  const former = (parent: Command, name: string) =>
    parent.command(name, { hidden: true }).option('--json', 'print JSON');

  former(group('engine'), 'allow')
    .description('former name of `signing resume`')
    .argument('<chain>')
    .argument('<up-to>')
    .option('--none-was-paid')
    .action(
      prints(async (chain: string, upTo: string, { noneWasPaid = false }: { noneWasPaid?: boolean }) =>
        (await loadSigning()).resumeSigning(around, { chain, upTo, confirmNonePaid: noneWasPaid }),
      ),
    );

  const asset = group('asset');
  former(asset, 'list')
    .description('former name of `payouts paused`')
    .action(prints(async () => (await loadPauses()).listPausedPayouts(around)));
  former(asset, 'halt')
    .description('former name of `payouts pause`')
    .argument('<asset>')
    .requiredOption('--reason <text>')
    .action(
      prints(async (named: string, { reason }: { reason: string }) =>
        (await loadPauses()).pausePayouts(around, named, reason),
      ),
    );
  for (const resume of [former(asset, 'resume'), former(program, 'resume-payouts')])
    withScope(
      resume.description('former name of `payouts resume`').argument('<asset>').option('--force'),
    ).action(
      prints(async (asset: string, { force = false, ...given }: ScopeOptions & { force?: boolean }) =>
        (await loadPauses()).resumePayouts(around, { asset, force, ...scopeOf(given) }),
      ),
    );

  former(program, 'keep-bus')
    .description('former name of `nats provision --watch`')
    .option('--once')
    .action(
      prints(async ({ once = false }: { once?: boolean }) =>
        (await loadNats()).provisionNats(around, { watch: !once, replicas: 1 }),
      ),
    );
  former(program, 'nats-permissions')
    .description('former name of `nats permissions`')
    .action(writes(async () => (await loadNats()).natsPermissions()));
}
