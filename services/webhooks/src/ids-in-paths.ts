/** Ids of ours are made of these; anything else is unknown without asking the database. */
const idForm = /^[a-z]{3}_[0-9a-z]{1,128}$/;

/** The id in a path; empty, and so unknown, when it has no id's form. */
export const idOf = ({ id }: Record<string, string | string[] | undefined>): string =>
  typeof id === 'string' && idForm.test(id) ? id : '';
