// Members that objects of options have. Plain JavaScript has no compiler to find a misspelt one, and a condition that is ignored
// makes an unconditional write.

import { InvalidArgumentError } from './errors';

/** The names of all members of T: the compiler requires each, and no other. */
export type Names<T> = Readonly<Record<keyof T, true>>;

/** @throws InvalidArgumentError if `given` is not an object, or has a member that is not one of `names`. undefined counts as absent. */
export function checkMembers(what: string, given: unknown, names: Readonly<Record<string, true>>): void {
  if (given === undefined) return;
  if (typeof given !== 'object' || given === null) throw new InvalidArgumentError(`${what} are an object`);
  for (const name in given) {
    if (Object.hasOwn(names, name) || (given as Record<string, unknown>)[name] === undefined) continue;
    throw new InvalidArgumentError(`${what} have no "${name}": they are ${Object.keys(names).join(', ')}`);
  }
}
