import RetintCLI

await runRetint()
