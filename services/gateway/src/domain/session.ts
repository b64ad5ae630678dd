/** `__Host-`: browsers take it from a secure origin alone, for all paths of it, and from no other host. */
export const SESSION_COOKIE = '__Host-quittance_session';

/** 256 random bits in base64url. */
const TOKEN = /^[\w-]{43}$/;

const cookiesIn = (header: string): string[] =>
  header
    .split(';')
    .map((one) => one.trim())
    .filter((one) => one !== '');

const isSession = (cookie: string): boolean => cookie.startsWith(`${SESSION_COOKIE}=`);

/** The other cookies of a request; undefined when there is none. */
export function withoutSession(cookies: string): string | undefined {
  const others = cookiesIn(cookies).filter((one) => !isSession(one));
  return others.length === 0 ? undefined : others.join('; ');
}

/**
 * The session's token in a request. Undefined when there is none, when it cannot be one, and when there are two: which of them
 * counts would be anybody's guess.
 */
export function sessionToken(cookies: string | undefined): string | undefined {
  const given = cookiesIn(cookies ?? '')
    .filter(isSession)
    .map((one) => one.slice(SESSION_COOKIE.length + 1));
  const [token = ''] = given;
  return given.length === 1 && TOKEN.test(token) ? token : undefined;
}

const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict';

export const cookieOf = (token: string): string => `${SESSION_COOKIE}=${token}; ${attributes}`;
export const noCookie = `${SESSION_COOKIE}=; Max-Age=0; ${attributes}`;

/** For so long after password and second factor what needs them again is allowed. */
export const STEP_UP_MS = 10 * 60_000;

export const isSteppedUp = (steppedUpAt: Date, now: Date): boolean =>
  now.getTime() - steppedUpAt.getTime() < STEP_UP_MS;

export type SameOrigin = {
  method: string;
  origin: string | undefined;
  /** The header Sec-Fetch-Site, of browsers that send it. */
  site: string | undefined;
};

const changesNothing = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Whether a request with a session's cookie may come from a page that is not ours. What changes something has to say where from. */
export function isForeign({ method, origin, site }: SameOrigin, ownOrigin: string): boolean {
  if (changesNothing(method)) return site !== undefined && site !== 'same-origin' && site !== 'none';
  return origin !== ownOrigin || (site !== undefined && site !== 'same-origin');
}

/** The same of a request that brings its own proof, such as a sign-in: a program sends neither of the headers. */
export const isForeignSignIn = ({ origin, site }: SameOrigin, ownOrigin: string): boolean =>
  (origin !== undefined && origin !== ownOrigin) || (site !== undefined && site !== 'same-origin');
