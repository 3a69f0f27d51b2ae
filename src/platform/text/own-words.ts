/** An error whose message this program wrote. The message of any other error may be what a stranger sent: quote it. */
export class OwnWords extends Error {}
