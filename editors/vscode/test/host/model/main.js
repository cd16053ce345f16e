// A language model that writes one sentence and repeats the first citation that
// it was given. It keeps what it was asked, for the tests.
const vscode = require('vscode');

const asked = [];

exports.activate = (context) => {
  if (!vscode.lm?.registerLanguageModelChatProvider) return { asked };
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('coderag-test', {
    provideLanguageModelChatInformation: () => [{
      id: 'parrot', name: 'Parrot', family: 'parrot', version: '1', maxInputTokens: 100000, maxOutputTokens: 4000, capabilities: { toolCalling: true }, isUserSelectable: true,
    }],
    provideLanguageModelChatResponse: (model, messages, options, progress) => {
      const text = messages.map((message) => message.content.map((part) => part.value ?? '').join('')).join('\n');
      asked.push(text);
      const citation = /\[?([\w./-]+:\d+-\d+)\]?/.exec(text)?.[1];
      for (const word of ['The parrot ', 'says ', `so [${citation}].`]) progress.report(new vscode.LanguageModelTextPart(word));
      return Promise.resolve();
    },
    provideTokenCount: (model, text) => Promise.resolve(String(text).length / 4),
  }));
  // The host asks a provider for its models when one is selected, not before: the chat's picker stays empty until then.
  void vscode.lm.selectChatModels({ vendor: 'coderag-test' });
  return { asked };
};
