/** What speaks S3 through the SDK, which takes a while to load: the first connection to S3 does that. */
export { SharedClients } from './client/client.js';
export { S3Session } from './client/session.js';
export { S3Remote } from './files/remote.js';
