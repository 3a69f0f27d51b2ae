/** How the text of a finding begins that does not begin with a name of the server, such as `jit is off`. */
const OUR_WORD =
  /^(?:a|an|columns?|database|in|index|indexes|it|its|no|replica|schema|sessions?|some|tables?|the|there|this)(?= )/;

/** The measured text of a finding for a person: a sentence that begins with a capital letter. The API has the text as it was stored. */
export function measuredSentence(line: string): string {
  return line.replace(OUR_WORD, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}
