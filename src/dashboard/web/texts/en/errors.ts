/** What a code of docs/integrate/errors.md means to whoever owns the transfer, and what to do about it. Not in the catalogue: the page loads it where an error is shown. */
export const errors = {
  already_exists: [
    'A file stands at the target, and nobody said that it may be replaced.',
    'Choose another name, or allow overwriting.',
  ],
  not_found: [
    'The file or folder does not exist on the server.',
    'Look at the folder: it may have been moved, or the name is spelt differently.',
  ],
  is_a_folder: ['A folder stands where a file is wanted.', 'Choose another name, or move the folder away.'],
  not_a_folder: ['A file stands where a folder is wanted.', 'Choose another folder, or move the file away.'],
  not_empty: [
    'The folder holds something, so it was not removed.',
    'Empty it first, or delete it with all that is in it.',
  ],
  permission_denied: [
    'The server does not allow this on the path.',
    'Ask its operator for the right, or use a login that has it.',
  ],
  bad_path: ['The path or the name is empty, too long or leaves the root.', 'Correct the path in the request.'],
  bad_request: ['A field of the request was missing or wrong.', 'The words of the error name the field. Correct it.'],
  bad_range: ['The part that was asked for lies outside the file.', 'Ask for the size of the file first.'],
  digest_mismatch: [
    'What arrived is not what the request announced. Nothing was replaced.',
    'Send it again. Where it happens often, look at what lies between.',
  ],
  size_mismatch: ['Fewer or more bytes arrived than were sent. Nothing was replaced.', 'Try again.'],
  readback_mismatch: [
    'What the server stored, read again, is not what it was sent.',
    'Try again. Where it happens again, have the disk of the server checked.',
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
    'It needs more sessions of one login at once than the server or the connection allows.',
    'Raise the number of sessions at the connection, where the server allows it.',
  ],
  too_large: ['The file is above a limit.', 'Send it as a resumable upload, or ask the operator to raise the limit.'],
  cancelled: ['Somebody cancelled it.', 'Start it again if it is still wanted.'],
  client_gone: ['The program that asked went away before the end.', 'Look at its timeout, and send the request again.'],
  internal: [
    'The gateway has a defect, or stopped while this ran.',
    'Try again. The log has the details under the request id.',
  ],
  resume_unsupported: ['The server cannot go on in a file that was begun.', 'Use a plain upload.'],
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
    'The server shows another host key than the pinned one.',
    'Find out why, then pin the new key at the connection.',
  ],
  certificate_rejected: [
    'The certificate of the server is not trusted, has expired or is for another name.',
    'Have it renewed, or give the connection its certificate authority.',
  ],
  connection_lost: ['The server cut the connection. Nothing of an upload is visible.', 'Try again.'],
  protocol_error: [
    'The server answered something that its protocol does not allow.',
    'Test the connection. The words of the error help its operator.',
  ],
  remote_failure: [
    'The server refused for a reason of its own.',
    'Its words above say why. Try again later, or ask its operator.',
  ],
  no_space: ['The server has no room left, or its quota is used up.', 'Make room there, then try again.'],
  fetch_failed: ['The URL did not answer with the file.', 'Open the URL yourself. It may have expired.'],
  too_many_sessions: [
    'The server admits no further session.',
    'Try again later, or lower the number of sessions at the connection.',
  ],
  pool_full: [
    'Too many requests wait for a session of this server.',
    'Send fewer at once, or raise the number of sessions at the connection.',
  ],
  acquire_timeout: [
    'No session of this server became free in time.',
    'Send fewer at once, or raise the number of sessions at the connection.',
  ],
  overloaded: ['The gateway is at its limits.', 'Try again later.'],
  draining: ['The gateway was stopping.', 'Try again.'],
  database_away: [
    'The database of the gateway could not be reached.',
    'Try again. If it lasts, tell the operator of the gateway.',
  ],
  connect_timeout: [
    'The server did not answer in time.',
    'Check host and port, and whether a firewall is in the way. Test the connection.',
  ],
  stall_timeout: [
    'No byte moved for too long.',
    'Try again. Where it happens often, look at the line and at the server.',
  ],
  command_timeout: [
    'The server did not answer a command in time.',
    'Try again. Where it happens often, ask its operator.',
  ],
} satisfies Record<string, readonly [meaning: string, remedy: string]>;
