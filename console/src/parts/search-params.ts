/** Parameters of a page, of which each may be missing. */
type Present<Params> = { [Name in keyof Params]?: Params[Name] | undefined };

/** The parameters that have a value. */
export function present<Params extends object>(params: Params): Present<Params> {
  const entries = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(entries) as Present<Params>;
}

/** The word that an untrusted text is; undefined if it is none of them. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  text: string | undefined,
): Word | undefined {
  return words.find((word) => word === text);
}

/** An untrusted text if it has this form. */
export function matching(form: RegExp, text: string | undefined): string | undefined {
  return text !== undefined && form.test(text) ? text : undefined;
}

/** The id of an object, from an untrusted text. */
export function idIn(text: string | undefined): string | undefined {
  return matching(/^[1-9]\d{0,14}$/, text);
}
