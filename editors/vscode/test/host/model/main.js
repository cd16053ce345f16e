// A language model that writes two sentences and repeats the first citation that
// it was given. It keeps what it was asked, for the tests; they may let it wait
// before its second sentence.
const vscode = require('vscode');

const parrot = { asked: [], wait: Promise.resolve() };

exports.activate = (context) => {
  if (!vscode.lm?.registerLanguageModelChatProvider) return parrot;
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('coderag-test', {
    provideLanguageModelChatInformation: () => [{
      id: 'parrot', name: 'Parrot', family: 'parrot', version: '1', maxInputTokens: 100000, maxOutputTokens: 4000, capabilities: { toolCalling: true }, isUserSelectable: true,
    }],
    provideLanguageModelChatResponse: async (model, messages, options, progress) => {
      const text = messages.map((message) => message.content.map((part) => part.value ?? '').join('')).join('\n');
      parrot.asked.push(text);
      const citation = /\[?([\w./-]+:\d+-\d+)\]?/.exec(text)?.[1];
      const say = (word) => progress.report(new vscode.LanguageModelTextPart(word));
      for (const word of ['The parrot ', 'says ', `so [${citation}].\n`]) say(word);
      if (citation) await parrot.wait; // without sources it was asked to plan
      say(`It says so again [${citation}].`);
    },
    provideTokenCount: (model, text) => Promise.resolve(String(text).length / 4),
  }));
  // The host asks a provider for its models when one is selected, not before: the chat's picker stays empty until then.
  void vscode.lm.selectChatModels({ vendor: 'coderag-test' });
  return parrot;
};
