import { allows, managesPeople, useSession } from '../session/session.ts';
import { type Place, places } from './navigation.ts';

/** The places that the person may go to. */
export function usePlaces(): { group: string; places: Place[] }[] {
  const session = useSession();
  const isOpen = ({ needs, managers, operators }: Place) =>
    (needs === undefined || allows(session, needs)) &&
    (managers === undefined || managesPeople(session)) &&
    (operators === undefined || session.operator);
  return places
    .map(({ group, places: all }) => ({ group, places: all.filter(isOpen) }))
    .filter(({ places: open }) => open.length > 0);
}
