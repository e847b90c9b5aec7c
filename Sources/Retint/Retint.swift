// Retint
