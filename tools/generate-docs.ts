import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chainSettings } from '@quittance/chains/settings-schema';
import { serviceSettings } from '@quittance/shared/config';
import { errorCodes } from '@quittance/shared/error-codes';
import { type Service, services } from '@quittance/shared/events';
import { commandLine } from 'quittance/command-line';
import { z } from 'zod';
import { configSchema as auditor } from '../services/auditor/src/config.ts';
import { configSchema as gateway } from '../services/gateway/src/config.ts';
import { ANY_TOKEN, scopeOfOperation, scopes } from '../services/gateway/src/domain/scopes.ts';
import { configSchema as invoices } from '../services/invoices/src/config.ts';
import { configSchema as ledger } from '../services/ledger/src/config.ts';
import { configSchema as payouts } from '../services/payouts/src/config.ts';
import { configSchema as signer } from '../services/signer/src/config.ts';
import { configSchema as webhooks } from '../services/webhooks/src/config.ts';
import { eventDescriptions } from '../services/webhooks/src/domain/event-types.ts';
import { clientTypes, scopeMeanings } from './client-types.ts';
import { documentText } from './openapi/document.ts';
import { signerPackagesText } from './signer-packages.ts';
import { root, textOf } from './tracked-files.ts';

/**
 * node tools/generate-docs.ts
 *
 * Writes the tables of settings into docs/configure.md, the reference of commands into docs/command-line.md, the codes of
 * errors and the scopes of tokens into docs/api.md and the event types into docs/webhooks.md, between `<!-- generated: NAME -->` and
 * `<!-- end of generated -->`. The settings come from each service's config.ts, the commands from what commander knows of
 * them. Writes the whole of `wholeFiles` too. tools/generated-docs.test.ts fails when a file differs.
 */
export const generatedFiles = ['configure', 'command-line', 'api', 'webhooks'].map(
  (name) => `docs/${name}.md`,
);

/** Files that are generated as a whole. */
export const wholeFiles: Readonly<Record<string, () => string | Promise<string>>> = {
  'services/gateway/openapi.json': documentText,
  'packages/client/src/api-types.ts': () => clientTypes(documentText()),
  'packages/client/src/scopes.ts': () => scopeMeanings(documentText()),
  // The client has no dependency, and these types have one source.
  'packages/client/src/operator-views.ts': () =>
    `// Written by tools/generate-docs.ts from packages/shared/src/operator-views.ts.\n${textOf('packages/shared/src/operator-views.ts')}`,
  'docs/security/signer-packages.md': () => signerPackagesText(root),
  // A chart has no file from outside of its folder.
  'deploy/helm/quittance/files/alerts.yml': () => textOf('deploy/prometheus/alerts.yml'),
};

const schemas: Record<Service, z.ZodType> = { gateway, invoices, payouts, ledger, webhooks, signer, auditor };

type Command = ReturnType<typeof commandLine>;
type Setting = {
  type?: string;
  format?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  default?: unknown;
  description?: string;
};
type Settings = { properties: Record<string, Setting>; required: string[] };

const settingsOf = (schema: z.ZodType): Settings => {
  const { properties, required } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return { properties: (properties ?? {}) as Record<string, Setting>, required: required ?? [] };
};

const table = (rows: readonly (readonly string[])[]) =>
  rows
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .toSpliced(1, 0, `|${'---|'.repeat(rows[0]?.length ?? 0)}`)
    .join('\n');

const isUnbounded = (setting: Setting) => (setting.maximum ?? 0) >= Number.MAX_SAFE_INTEGER;

function typeOf(name: string, setting: Setting): string {
  const unit = name.endsWith('_MS') ? 'milliseconds, ' : name.endsWith('_SECONDS') ? 'seconds, ' : '';
  if (setting.enum) return setting.enum.map((value) => `\`${value}\``).join(', ');
  if (setting.type === 'integer') {
    const range = isUnbounded(setting)
      ? `from ${setting.minimum}`
      : `${setting.minimum} to ${setting.maximum}`;
    return `${unit === '' ? 'number, ' : unit}${range}`;
  }
  const length = setting.minLength === undefined ? '' : `, at least ${setting.minLength} characters`;
  return `${setting.format === 'uri' ? 'URL' : (setting.format ?? 'string')}${length}`;
}

const defaultOf = (setting: Setting, isRequired: boolean) => {
  if (isRequired) return 'required';
  return setting.default === undefined || setting.default === '' ? 'none' : `\`${setting.default}\``;
};

function settingRows({ properties, required }: Settings, names: readonly string[]): string[][] {
  return names.map((name) => {
    const setting = properties[name] ?? {};
    if (setting.description === undefined) throw new Error(`${name} has no description in its config.ts`);
    return [
      `\`${name}\``,
      typeOf(name, setting),
      defaultOf(setting, required.includes(name)),
      setting.description,
    ];
  });
}

const header = ['setting', 'type', 'default', 'meaning'];

/** The settings that every service has, with the services that use each. */
function commonTable(): string {
  const all = settingsOf(z.object(serviceSettings));
  const users = (name: string) => {
    const without = services.filter((service) => !(name in settingsOf(schemas[service]).properties));
    return without.length === 0 ? 'all' : `all but ${new Intl.ListFormat('en-GB').format(without)}`;
  };
  const rows = settingRows(all, Object.keys(all.properties));
  return table([
    [...header, 'services'],
    ...rows.map((row) => [...row, users(row[0]?.replaceAll('`', '') ?? '')]),
  ]);
}

function serviceTable(service: Service): string {
  const settings = settingsOf(schemas[service]);
  const own = Object.keys(settings.properties).filter(
    (name) => !(name in serviceSettings) && !(name in chainSettings),
  );
  return table([header, ...settingRows(settings, own)]);
}

/** One table for the chains that have the same settings under different prefixes. */
function chainTables(): string {
  const settings = settingsOf(z.object(chainSettings));
  const prefixesByTable = new Map<string, string[]>();
  for (const prefix of new Set(Object.keys(chainSettings).map((name) => name.split('_', 1)[0] ?? ''))) {
    const own = Object.keys(chainSettings).filter((name) => name.startsWith(`${prefix}_`));
    const rows = settingRows(settings, own).map(([name = '', ...rest]) => [
      name.replace(`${prefix}_`, ''),
      ...rest,
    ]);
    const text = table([header, ...rows]);
    prefixesByTable.set(text, [...(prefixesByTable.get(text) ?? []), prefix]);
  }
  return [...prefixesByTable]
    .map(([text, prefixes]) => `### ${prefixes.map((prefix) => `\`${prefix}_…\``).join(', ')}\n\n${text}`)
    .join('\n\n');
}

const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;

const otherNames = (command: Command) =>
  command
    .aliases()
    .map((alias) => ` Also \`${alias}\`.`)
    .join('');

/** The text that a command's help prints after its options: paragraphs, and example commands. */
function notes(command: Command, printed: string[]): string {
  printed.length = 0;
  command.outputHelp();
  const after = printed.join('').slice(command.helpInformation().length).trim();
  return after
    .split(/\n(?=Examples:)|(?<=Examples:)\n/)
    .map((part) =>
      /^ +\$ /.test(part)
        ? `\`\`\`sh\n${part.replaceAll(/^ +\$ /gm, '')}\n\`\`\``
        : part
            .replaceAll('\n', ' ')
            .replace(/^Examples:$/, '')
            .trim(),
    )
    .filter((part) => part !== '')
    .join('\n\n');
}

function commandText(command: Command, names: string, printed: string[], heading = '###'): string {
  const help = command.createHelp();
  const named = command.registeredArguments.map((argument) => help.argumentTerm(argument));
  const usage = [
    names,
    ...command.registeredArguments.map(({ required, name }, index) =>
      required ? `<${named[index] ?? name()}>` : `[${named[index] ?? name()}]`,
    ),
  ].join(' ');
  const rows = [
    ...command.registeredArguments.map((argument) => [
      `\`${help.argumentTerm(argument)}\``,
      sentence(argument.description),
      argument.required ? 'required' : 'none',
    ]),
    ...command.options
      .filter(({ long, hidden }) => long !== '--json' && !hidden)
      .map((option) => [
        `\`${option.flags}\``,
        sentence(option.description),
        option.mandatory
          ? 'required'
          : option.defaultValue === undefined
            ? 'none'
            : `\`${String(option.defaultValue)}\``,
      ]),
  ];
  return [
    `${heading} \`${usage}\``,
    sentence(command.description()) + otherNames(command),
    rows.length === 0 ? '' : table([['argument or option', 'meaning', 'default'], ...rows]),
    notes(command, printed),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function commandReference(): string {
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const program = commandLine(
    { env: {}, cwd: '', out: print, err: print },
    { tell: () => undefined, write: () => undefined },
  );
  const shown = (parent: Command) =>
    parent
      .createHelp()
      .visibleCommands(parent)
      .filter((command) => command.name() !== 'help');
  return shown(program)
    .map((group) => {
      const names = `quittance ${group.name()}`;
      if (group.commands.length === 0) return commandText(group, names, printed, '##');
      return [
        `## \`${names}\``,
        sentence(group.description()) + otherNames(group),
        ...shown(group).map((leaf) => commandText(leaf, `${names} ${leaf.name()}`, printed)),
      ].join('\n\n');
    })
    .join('\n\n');
}

const errorTable = (): string =>
  table([
    ['code', 'status', 'meaning', 'what to do'],
    ...Object.entries(errorCodes).map(([code, { status, meaning, remedy }]) => [
      `\`${code}\``,
      String(status),
      meaning,
      remedy,
    ]),
  ]);

function scopeTable() {
  const of = (needed: string) =>
    Object.entries(scopeOfOperation)
      .flatMap(([operation, one]) => (one === needed ? `\`${operation.replace(/:(\w+)/g, '{$1}')}\`` : []))
      .join(', ');
  return table([
    ['scope', 'allows', 'operations'],
    ...Object.entries(scopes).map(([name, what]) => [`\`${name}\``, what, of(name)]),
    ['none', 'Any valid token may call them.', of(ANY_TOKEN)],
  ]);
}

const eventTable = (): string =>
  table([
    ['event', 'default', 'sent when', 'meaning', 'what a shop should do'],
    ...Object.entries(eventDescriptions).map(([type, { isDefault, when, meaning, remedy }]) => [
      `\`${type}\``,
      isDefault ? 'yes' : 'no',
      when,
      meaning,
      remedy,
    ]),
  ]);

const parts: Record<string, () => string> = {
  'codes of errors': errorTable,
  'scopes of tokens': scopeTable,
  'settings of every service': commonTable,
  ...Object.fromEntries(services.map((service) => [`settings of ${service}`, () => serviceTable(service)])),
  'settings of the chains': chainTables,
  'events of webhooks': eventTable,
  commands: commandReference,
};

/** `text` with each generated part replaced. Throws for a part that does not exist. */
export function regenerate(text: string): string {
  return text.replaceAll(
    /(<!-- generated: (.+?) -->\n)[\s\S]*?(\n<!-- end of generated -->)/g,
    (_, start: string, name: string, end: string) => {
      const make = parts[name];
      if (make === undefined) throw new Error(`there is no generated part "${name}"`);
      return `${start}\n${make()}\n${end}`;
    },
  );
}

if (import.meta.main) {
  for (const file of generatedFiles) writeFileSync(join(root, file), regenerate(textOf(file)));
  for (const [file, make] of Object.entries(wholeFiles)) writeFileSync(join(root, file), await make());
}
