import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules/', 'test/host/model/'] }, // the model is plain CommonJS, loaded as it is
  ...tseslint.configs.recommended,
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: ['./tsconfig.json', './src/webview/tsconfig.json', './test/tsconfig.json'] } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
    },
  },
  { files: ['test/unit/**'], rules: { '@typescript-eslint/no-floating-promises': 'off' } }, // node:test awaits its tests itself
);
