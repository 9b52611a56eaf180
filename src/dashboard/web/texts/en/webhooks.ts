/** Webhooks. */
export const webhooks = {
  one: 'Webhook',
  lead: 'URLs that receive the events of this account. Each message is signed.',
  add: 'Add a webhook',
  none: 'No webhook yet',
  noneText:
    'Choose a URL and its events, such as failed transfers or servers that are down. Messages that fail are retried and kept.',
  allConnections: 'All connections',
  ended: 'Ended',
  failing: 'Failing',
  newSecret: 'New signing secret …',
  removed: 'The webhook is deleted',
  goneTitle: 'The receiver answered that it is gone (410)',
  goneRemedy: 'Resume it once the receiver works again.',
  tabs: 'Of this webhook',
  noDelivery: 'No matching event yet.',
  removeTitle: 'Delete this webhook?',
  removeVerb: 'Delete the webhook',
  removeText: 'Messages that are not delivered yet are dropped. The events stay among the events of the account.',
  about: 'Only for',
  form: {
    addTitle: 'Add a webhook',
    editTitle: 'Edit the webhook',
    addVerb: 'Add the webhook',
  },
  secret: {
    title: 'The signing secret',
    warning: 'Copy it now: it is not shown again.',
    text: 'The receiver uses it to verify each message (Standard Webhooks). A lost secret cannot be recovered, only replaced.',
    label: 'Signing secret',
    kept: 'I have copied it',
    rotateTitle: 'Create a new signing secret?',
    rotate: 'Create a new one',
    rotateText:
      'New messages are signed with it. The old secret also signs for 24 hours. Give the receiver the new one in that time.',
  },
};
