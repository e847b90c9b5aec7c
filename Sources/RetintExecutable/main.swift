import RetintCLI

runRetint()
