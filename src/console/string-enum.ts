import { type TUnsafe, Type } from 'typebox';

/** The schema of one of a few words; unlike a plain string, its type says which. */
export function word<const Word extends string>(...words: Word[]): TUnsafe<Word> & { type: 'string' } {
  return Object.assign(Type.Unsafe<Word>({ type: 'string', enum: words }), { type: 'string' } as const);
}
