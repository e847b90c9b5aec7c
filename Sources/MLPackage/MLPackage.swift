// MLPackage
