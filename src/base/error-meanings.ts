/** What a code of docs/integrate/errors.md means to whoever owns the transfer, and what to do about it. */
export const errorMeanings = {
  already_exists: [
    'A file with this name exists, and the request did not allow replacing it.',
    'Choose another name, or allow overwriting.',
  ],
  not_found: [
    'The file or folder does not exist on the server.',
    'Check the folder: the file may have been moved or have another name.',
  ],
  is_a_folder: ['There is a folder where a file was expected.', 'Choose another name, or move the folder away.'],
  not_a_folder: ['There is a file where a folder was expected.', 'Choose another folder, or move the file away.'],
  not_empty: ['The folder is not empty, so it was not deleted.', 'Empty it first, or delete it with its contents.'],
  permission_denied: [
    'The server does not allow this on the path.',
    'Ask its operator for access, or use another login.',
  ],
  bad_path: ['The path or the name is empty, too long or leaves the root.', 'Correct the path in the request.'],
  bad_request: ['A field of the request was missing or wrong.', 'The error message names the field. Correct it.'],
  bad_range: ['The requested range is outside the file.', 'Check the size of the file first.'],
  digest_mismatch: [
    'What arrived does not match the digest in the request. Nothing was replaced.',
    'Send it again. If it happens often, check the network in between.',
  ],
  size_mismatch: ['Fewer or more bytes arrived than were sent. Nothing was replaced.', 'Try again.'],
  readback_mismatch: [
    'The stored file, read back, differs from what was sent.',
    'Try again. If it happens again, have the disk of the server checked.',
  ],
  copy_unverified: [
    'The copy was delivered, but nobody could look at it afterwards. The original was kept.',
    'Look for the copy at its receiver. If it arrived, delete the original yourself; another try delivers it once more.',
  ],
  unsupported_operation: [
    'This kind of server cannot do that.',
    'Use another operation: S3, for example, cannot append.',
  ],
  connection_inactive: ['The connection is switched off.', 'Switch it on under Connections.'],
  address_denied: [
    'The network rules of the gateway do not allow this address.',
    'Ask the operator of the gateway to allow it.',
  ],
  plan_required: ['The plan of the account does not include this.', 'Choose another plan, or another operation.'],
  quota_exceeded: ['The actions of this month are used up.', 'Wait for the next month, or choose another plan.'],
  share_exceeded: [
    'The account already uses its fair share of the gateway.',
    'Send fewer requests at once, or try again later.',
  ],
  sessions_exhausted: [
    'This needs more sessions at once than the server or the connection allows.',
    'Raise the maximum sessions of the connection, if the server allows more.',
  ],
  too_large: [
    'The file is larger than a limit allows.',
    'Send it as a resumable upload, or ask the operator to raise the limit.',
  ],
  source_suspicious: [
    'The source is empty, or has lost more than half of its files since the last run. Nothing was deleted.',
    'Check the source. If it is right, run the job once with “Delete even if the source is empty”.',
  ],
  cancelled: ['Someone cancelled it.', 'Start it again if you still need it.'],
  client_gone: [
    'The client disconnected before the end.',
    'Check the timeout of the client, then send the request again.',
  ],
  internal: [
    'The gateway hit a bug, or stopped during this operation.',
    'Try again. The log has the details under the request id.',
  ],
  resume_unsupported: ['The server cannot continue a partial file.', 'Use a plain upload.'],
  dns_failed: ['The name of the server cannot be resolved.', 'Check the host of the connection.'],
  unreachable: [
    'The server refuses the connection, or there is no route to it.',
    'Check host and port, and whether a firewall is in the way. Test the connection.',
  ],
  login_refused: [
    'The server refuses the user, the password or the key.',
    'Correct the login of the connection, then test it.',
  ],
  host_key_mismatch: [
    'The server has a different host key than the pinned one.',
    'Find out why, then pin the new key at the connection.',
  ],
  certificate_rejected: [
    'The certificate of the server is not trusted, has expired or is for another name.',
    'Have it renewed, or give the connection its certificate authority.',
  ],
  connection_lost: ['The server closed the connection. A partial upload is not visible.', 'Try again.'],
  protocol_error: [
    'The server sent an answer that its protocol does not allow.',
    'Test the connection. The error message helps its operator.',
  ],
  remote_failure: [
    'The server refused for a reason of its own.',
    'The message above says why. Try again later, or ask its operator.',
  ],
  no_space: ['The server has no room left, or its quota is used up.', 'Make room there, then try again.'],
  fetch_failed: ['The URL did not return the file.', 'Open the URL yourself. It may have expired.'],
  too_many_sessions: [
    'The server accepts no more sessions.',
    'Try again later, or lower the maximum sessions of the connection.',
  ],
  pool_full: [
    'Too many requests are waiting for a session on this server.',
    'Send fewer at once, or raise the maximum sessions of the connection.',
  ],
  acquire_timeout: [
    'No session on this server became free in time.',
    'Send fewer at once, or raise the maximum sessions of the connection.',
  ],
  too_slow: [
    'The client was too slow while others waited for the server.',
    'Try again on a faster line, or with a resumable upload.',
  ],
  overloaded: ['The gateway is at its limits.', 'Try again later.'],
  draining: ['The gateway was stopping.', 'Try again.'],
  database_away: [
    'The database of the gateway could not be reached.',
    'Try again. If it lasts, tell the operator of the gateway.',
  ],
  outcome_unrecorded: [
    'It was done on the server, but the gateway could not record it: its database took no writes.',
    'Look at the server before you repeat it. Tell the operator of the gateway.',
  ],
  connect_timeout: [
    'The server did not answer in time.',
    'Check host and port, and whether a firewall is in the way. Test the connection.',
  ],
  stall_timeout: ['No byte moved for too long.', 'Try again. If it happens often, check the network and the server.'],
  command_timeout: [
    'The server did not answer a command in time.',
    'Try again. If it happens often, ask its operator.',
  ],
} satisfies Record<string, readonly [meaning: string, remedy: string]>;
