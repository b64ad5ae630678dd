import {
  type BusUser,
  bucketNames,
  bucketStream,
  buckets,
  inboxPrefix,
  PROVISIONER,
  STREAM,
} from './bus-connection.ts';
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
 * What a service may do in NATS, from the tables of events, commands and buckets: publish its own events to their receivers,
 * send its own requests, read its own durable consumer. No service may create, change or delete anything of JetStream.
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

/** May look up and create everything, and replace a durable consumer. May delete nothing else, read no message and send no event. */
function permissionsOfProvisioner(): BusPermissions {
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
    subscribe: [`${inboxPrefix(PROVISIONER)}.>`],
    answers: false,
  };
}

const all = new Map<BusUser, BusPermissions>([
  [PROVISIONER, permissionsOfProvisioner()],
  // A service that sends and receives nothing (the gateway) is no user of NATS.
  ...services
    .map((service) => [service, permissionsOfService(service)] as const)
    .filter(([, { publish }]) => publish.length > 0),
]);

/** All users of NATS. */
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

/** The account that holds JetStream's streams. No user of the product is in it. */
const STREAMS = 'streams';

/** Each service answers questions in its own account; JetStream hears everything else. */
const accountHearing = (subject: string): string => {
  const [first, second] = subject.split('.');
  return first === 'rpc' && second !== undefined ? second : STREAMS;
};

/**
 * Each user has an account of its own, because NATS checks what a user publishes and not which reply subject it names:
 * JetStream answers to any subject of the account that the request is made in. An account imports what its user may
 * publish and nothing else, so an answer reaches no other account, and no stream under another service's subject.
 * @param passwordOf in nats-server's configuration language: a text in quotes, or `$NAME` for a variable of the environment
 * @param admin the password of one who may do everything in the account of the streams; for tests only
 * @returns accounts, users and their rights, in the same language
 */
export function busConfiguration(passwordOf: (user: BusUser) => string, admin?: string): string {
  const list = (items: readonly string[], indent = '    ') =>
    `[\n${items.map((item) => `${indent}  ${item}\n`).join('')}${indent}]`;
  const subjects = (names: readonly string[]) =>
    list(
      names.map((name) => JSON.stringify(name)),
      '        ',
    );
  const imported = (subject: string) =>
    `{ service: { account: ${accountHearing(subject)}, subject: ${JSON.stringify(subject)} } }`;
  const accountOf = ([user, { publish, subscribe, answers }]: [BusUser, BusPermissions]) => `  ${user}: {
    users: [{
      user: ${JSON.stringify(user)}
      password: ${passwordOf(user)}
      permissions: {
        publish: { allow: ${subjects(publish)} }
        subscribe: { allow: ${subjects(subscribe)} }
${answers ? `        allow_responses: { max: 1, expires: "${ANSWER_WITHIN_S}s" }\n` : ''}      }
    }]
    imports: ${list([OWN_JETSTREAM, ...publish].map(imported))}
    exports: ${list(
      subscribe
        .filter((subject) => accountHearing(subject) === user)
        .map((subject) => `{ service: ${JSON.stringify(subject)} }`),
    )}
  }\n`;
  const admins = admin === undefined ? '' : `    users: [{ user: "${ADMIN}", password: ${admin} }]\n`;
  return `accounts {
  ${STREAMS}: {
    jetstream: enabled
${admins}    exports: ${list(exportedStreams)}
  }
${[...all].map(accountOf).join('')}}\n`;
}

/** Without this import nats-server answers an account's requests to JetStream itself: it has no JetStream. */
const OWN_JETSTREAM = '$JS.API.INFO';

/** Imports choose from these. A pull has many answers: `stream`. A publication has one. */
const exportedStreams = [
  '{ service: "evt.>" }',
  '{ service: "$KV.>" }',
  '{ service: "$JS.ACK.>" }',
  '{ service: "$JS.API.>", response_type: stream }',
];
