import {
  type BusUser,
  bucketNames,
  bucketStream,
  buckets,
  inboxPrefix,
  KEEPER,
  STREAM,
} from './bus-names.ts';
import { type CommandName, commandSubject, commands, missingSubject, oldestSubject } from './commands.ts';
import {
  type EventKind,
  events,
  kindsFor,
  receivers,
  type Service,
  sendersTo,
  services,
  subjectOf,
} from './events.ts';

/** Subjects, with the wildcards of NATS. What is not named is refused. */
export type BusPermissions = {
  publish: readonly string[];
  subscribe: readonly string[];
  /** May answer who asks: one message to each question's own inbox. */
  answers: boolean;
};

const eventKinds = Object.keys(events) as EventKind[];
const commandNames = Object.keys(commands) as CommandName[];

/**
 * What a service may do on the bus, by the tables of events, commands and buckets: publish its own events to those who
 * must have them, ask its own questions, read its own durable. Nobody may make, change or delete anything of JetStream.
 */
function permissionsOfService(service: Service): BusPermissions {
  const own = eventKinds.filter((kind) => events[kind].from === service);
  const told = new Set<Service>(own.flatMap((kind) => events[kind].to));
  const answered = commandNames.filter((command) => commands[command].by === service);
  const asked = commandNames.filter((command) =>
    (commands[command].askedBy as readonly Service[]).includes(service),
  );
  const written = bucketNames.filter((bucket) => buckets[bucket].writtenBy === service);
  const read = bucketNames.filter((bucket) =>
    (buckets[bucket].readBy as readonly Service[]).includes(service),
  );
  const publish = [
    ...own.flatMap((kind) => events[kind].to.map((to) => subjectOf(kind, to))),
    ...(kindsFor(service).length === 0
      ? []
      : [
          `$JS.API.CONSUMER.INFO.${STREAM}.${service}`,
          `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${service}`,
          `$JS.ACK.${STREAM}.${service}.>`,
        ]),
    ...asked.map(commandSubject),
    ...[...told].map(missingSubject),
    ...sendersTo(service).map(oldestSubject),
    ...written.map((bucket) => `$KV.${bucket}.*`),
    // By the key's own subject only: without one it could ask for any message by its number.
    ...read.map((bucket) => `$JS.API.DIRECT.GET.${bucketStream(bucket)}.$KV.${bucket}.*`),
  ];
  const answers = publish.length > 0;
  return {
    publish,
    subscribe: [
      `${inboxPrefix(service)}.>`,
      ...answered.map(commandSubject),
      ...(answers ? [missingSubject(service)] : []),
      ...(own.length > 0 ? [oldestSubject(service)] : []),
    ],
    answers,
  };
}

/** Looks and makes, and makes a durable anew; deletes nothing else, empties and reads nothing, and sends no event. */
function permissionsOfKeeper(): BusPermissions {
  const streams = [STREAM, ...bucketNames.map(bucketStream)];
  return {
    publish: [
      ...streams.flatMap((name) => [`$JS.API.STREAM.INFO.${name}`, `$JS.API.STREAM.CREATE.${name}`]),
      ...receivers.flatMap((service) => [
        `$JS.API.CONSUMER.INFO.${STREAM}.${service}`,
        `$JS.API.CONSUMER.CREATE.${STREAM}.${service}.>`,
        `$JS.API.CONSUMER.DELETE.${STREAM}.${service}`,
      ]),
    ],
    subscribe: [`${inboxPrefix(KEEPER)}.>`],
    answers: false,
  };
}

const all = new Map<BusUser, BusPermissions>([
  [KEEPER, permissionsOfKeeper()],
  // Who has nothing to say and nothing to hear on the bus (the gateway) is not known to it.
  ...services
    .map((service) => [service, permissionsOfService(service)] as const)
    .filter(([, { publish }]) => publish.length > 0),
]);

/** All whom the bus knows. */
export const busUsers: readonly BusUser[] = [...all.keys()];

export const isBusUser = (service: Service): boolean => all.has(service);

export function permissionsOf(user: BusUser): BusPermissions {
  const permissions = all.get(user);
  if (permissions === undefined) throw new Error(`the bus knows no ${user}`);
  return permissions;
}

/** May do everything, where a test has asked for such a user. */
export const ADMIN = 'admin';

/** A question is answered while somebody still waits for it. */
const ANSWER_WITHIN_S = 10;

/**
 * The users of the bus and their rights, in nats-server's configuration language.
 * @param passwordOf in that language as well: a text in quotes, or `$NAME` for a variable of the environment
 * @param admin the password of one who may do everything; for tests only
 */
export function busConfiguration(passwordOf: (user: BusUser) => string, admin?: string): string {
  const list = (subjects: readonly string[]) =>
    `[\n${subjects.map((subject) => `          ${JSON.stringify(subject)}\n`).join('')}        ]`;
  const userOf = ([user, { publish, subscribe, answers }]: [BusUser, BusPermissions]) =>
    `    {
      user: ${JSON.stringify(user)}
      password: ${passwordOf(user)}
      permissions: {
        publish: { allow: ${list(publish)} }
        subscribe: { allow: ${list(subscribe)} }
${answers ? `        allow_responses: { max: 1, expires: "${ANSWER_WITHIN_S}s" }\n` : ''}      }
    }\n`;
  const adminLine = admin === undefined ? '' : `    { user: "${ADMIN}", password: ${admin} }\n`;
  return `authorization {\n  users: [\n${[...all].map(userOf).join('')}${adminLine}  ]\n}\n`;
}
